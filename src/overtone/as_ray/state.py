"""Whether this process answers `import ray` with Overtone, and where the installed Ray is."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from typing import Any

OPTION = "overtone.as_ray"
"""Name of the -X option with which new Python processes of this process install it as well."""

VERSION = "2.60.0"
"""Version of Ray whose `tune`, `train` and `air` Overtone follows."""

INSTALLED = "overtone.as_ray.installed"
"""Name in `sys.modules` of the installed Ray; below it lie its own tune, train and air."""


def is_installed() -> bool:
    """Return whether `import ray` is answered with Overtone in this process."""
    return OPTION in sys._xoptions and "overtone.as_ray.finder" in sys.modules


def stated_version() -> str:
    """Return the version given to `install_as_ray` in this process; "" if it was not called."""
    return str(sys._xoptions[OPTION]) if is_installed() else ""


def loaded_ray() -> Any:
    """Return the installed Ray if this process has loaded it, else None."""
    return sys.modules.get(INSTALLED if is_installed() else "ray")
