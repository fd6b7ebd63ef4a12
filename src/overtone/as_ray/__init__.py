"""Answers `import ray` with Overtone, for scripts and libraries that import Ray Tune themselves.

`ray.tune`, `ray.train` and `ray.air` are Overtone's packages. The rest of Ray comes from the installed
Ray, which is loaded at first use. Start a script with `install_as_ray()`, or run it with
`python -m overtone.as_ray script.py`.
"""

from __future__ import annotations

import sys

from overtone.as_ray.state import OPTION, VERSION, is_installed
from overtone.errors import OvertoneError


def install_as_ray(version: str = VERSION) -> None:
    """Answer `import ray`, `ray.tune`, `ray.train` and `ray.air` with Overtone in this process.

    The processes of trials and of searchers do the same, also on the nodes of a Ray cluster. Further
    calls have no effect.

    Args:
        version: The version of Ray that `ray.__version__` and the package metadata state. If Ray is
            installed, they state its version.

    Raises:
        OvertoneError: The installed Ray is imported already.
    """
    if is_installed():
        return
    if "ray" in sys.modules:
        raise OvertoneError(
            "install_as_ray(): the installed Ray is imported already, so parts of this process use its tune. "
            "Call install_as_ray() before the first `import ray`, also before libraries that import it; "
            "`python -m overtone.as_ray SCRIPT` does so"
        )
    _install(version)


def install_in_worker(version: str) -> None:
    """Do the same in a worker process of Ray, whose Ray is imported already."""
    if not is_installed():
        from overtone.as_ray.installed_view import adopt

        adopt(sys.modules.pop("ray"))
        _install(version)


def _install(version: str) -> None:
    from overtone.as_ray.finder import RayFinder

    sys._xoptions[OPTION] = version  # `new_python` hands the options on to the processes of trials
    sys.meta_path.insert(0, RayFinder())
    import ray  # noqa: F401  # it is in sys.modules for all that look it up there
