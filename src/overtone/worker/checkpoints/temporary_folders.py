"""Temporary folders for checkpoints, deleted at the end of their process, or later if it was killed."""

from __future__ import annotations

import atexit
import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from overtone.worker.checkpoints import held_folders

_home: tuple[int, Path] | None = None
_opening = threading.Lock()


def temporary_folder() -> str:
    """Return a new folder. The first call in a process also deletes the folders of killed processes.

    Raises:
        OSError: The folder cannot be created.
    """
    return tempfile.mkdtemp(prefix="checkpoint_", dir=_own_home())


def _own_home() -> Path:
    global _home
    pid = os.getpid()
    with _opening:
        if _home is None or _home[0] != pid or not _home[1].is_dir():
            yard = Path(tempfile.gettempdir(), f"overtone-checkpoints-{os.getuid()}")
            home = yard / f"{pid}-{uuid4().hex[:8]}"
            lock = held_folders.hold(home)
            atexit.register(_leave, pid, home, lock)
            _home = pid, home
        return _home[1]


def _leave(pid: int, home: Path, lock: int) -> None:
    if os.getpid() == pid:  # not in a fork
        with suppress(OSError):  # the directory for temporary files was emptied
            held_folders.let_go(home, lock)
