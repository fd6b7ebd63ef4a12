"""The systems on which searches run: docs/platforms.md."""

from __future__ import annotations

import sys

from overtone.errors import OvertoneError


def check_platform() -> None:
    """Refuse to run a search where its processes cannot be started or ended.

    Raises:
        OvertoneError: This is Windows.
    """
    if sys.platform == "win32":
        raise OvertoneError(
            "searches do not run on Windows, which lacks signals and Unix sockets for their processes: use "
            "Linux, such as in WSL 2. Experiments can be read here: tune.ExperimentAnalysis, `overtone show`"
        )
