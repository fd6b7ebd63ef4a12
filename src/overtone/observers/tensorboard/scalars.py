"""TensorBoard event files: scalars of every numeric metric, and the HParams tab.

They are written by a process of their own, through tensorboardX: that library would import
much into this one, PyTorch where that is installed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from overtone.core.messages import Record
from overtone.errors import MissingPackageError
from overtone.observers.helper_processes import Follower

_START_AFTER_S = 0.1
"""The process takes some time of a core to begin: not in the experiment's first moments."""


def is_available() -> bool:
    """Return whether tensorboardX is installed; it is not imported."""
    from importlib.util import find_spec

    return find_spec("tensorboardX") is not None


class TensorBoard(Follower):
    """Has an event file in each trial's folder written from the journal, with tags such as "tune/accuracy".

    Args:
        folder: The experiment's folder.
        since: The number of the record after which the files go on.
        again: Trials whose files are written anew; they have none now.

    Raises:
        MissingPackageError: tensorboardX is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], since: int = 0, again: Iterable[str] = ()) -> None:
        if not is_available():
            raise MissingPackageError("tensorboardX", "tensorboard", "writing TensorBoard files")
        module = "overtone.observers.tensorboard.event_process"
        super().__init__(folder, module, "TensorBoard files", _START_AFTER_S, (since,))
        self._again = sorted(again)
        self._has_work = bool(self._again)

    def on_record(self, record: Record) -> None:
        self._has_work = True

    def end_early(self) -> None:
        if self._has_work:
            self._start()

    def _start(self) -> None:
        super()._start()
        self._tell(json.dumps(self._again))
