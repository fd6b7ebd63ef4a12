"""Process relations of a trial: death signals, adoption of orphans, children."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

LOOK_EVERY_S = 1.0
"""Interval at which a process checks whether its parent runs, if the kernel sends no signal."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

GROUP_OF_ITS_OWN: dict[str, Any] = (
    {"process_group": 0} if sys.version_info >= (3, 11) else {"start_new_session": True}
)
"""Options of `subprocess.Popen` for a helper, which gets no Ctrl-C.

The helper gets its own process group in the driver's session. If the driver dies, the kernel ends a
stopped helper (SIGHUP and SIGCONT to an orphaned process group), even before its Python has begun.
"""

IS_WOKEN = _libc is not None
"""Whether the kernel signals the death of a parent; if not, a process has to check."""


def die_with_parent(signum: int = signal.SIGKILL) -> None:
    """Make the kernel send `signum` to this process when its parent dies (Linux only).

    The death of a parent before this call is not noticed: compare `os.getppid()` afterwards.
    """
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signum, 0, 0, 0)


def wake_with_parent() -> None:
    """Make the kernel continue this process, if it is stopped, when its parent dies (Linux only).

    The signal also arrives if only the parent's thread that started this process ends: compare
    `os.getppid()` then. A SIGKILL instead would end helpers of a driver whose thread has ended. New
    processes call this first.
    """
    die_with_parent(signal.SIGCONT)


def stay_out_of_job_control() -> None:
    """Let no terminal stop this process, whose group is never the terminal's (see `GROUP_OF_ITS_OWN`).

    The process may write to the terminal also under `stty tostop`; reading from it fails.
    """
    for signum in (signal.SIGTTOU, signal.SIGTTIN):
        signal.signal(signum, signal.SIG_IGN)


def end_with(parent: int) -> None:
    """End this process within about a second of the death of its parent, even if it is stopped.

    A thread checks for that. The end of a pipe is not enough: a child that the parent has forked may
    hold the other end. Off Linux a stopped process ends after it is continued.
    """
    import threading

    wake_with_parent()
    threading.Thread(target=_end_after, args=(parent,), name="overtone-parent", daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent ends (Linux only)."""
    if _libc is not None:
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children(pid: int) -> set[int]:
    """Return the direct children of the single-threaded process `pid`, zombies included; empty off Linux."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", buffering=0) as file:
            return {int(one) for one in file.read().split()}
    except FileNotFoundError:
        return {child for child, parent in parents() if parent == pid}  # a kernel without that file


def parents() -> Iterator[tuple[int, int]]:
    """Yield (pid, parent's pid) of every process."""
    if _libc is None:
        return
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    # the command, in brackets, may itself hold blanks and brackets
                    yield int(name), int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                pass  # it ended meanwhile


def become_trial_process(parent: int, on_sigterm: Any = None) -> None:
    """Give this process its own session, default signal handlers, and an end with `parent`.

    Args:
        parent: Its parent's pid.
        on_sigterm: The handler that the user's modules have set for SIGTERM, if any.
    """
    os.setsid()
    die_with_parent()
    if os.getppid() != parent:
        os._exit(1)
    # Processes that a trial's descendants leave behind stay below the trial until the trial ends:
    # so the server can tell which trial started them.
    adopt_orphans()
    signal.set_wakeup_fd(-1)
    for signum in (signal.SIGCHLD, signal.SIGHUP, signal.SIGCONT):
        signal.signal(signum, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, on_sigterm if callable(on_sigterm) else signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
