"""A process between the driver and the server that survives both and ends their descendants.

If a process dies, the kernel gives its descendants a new parent: those of a trial go to the server,
those of the server to the guard. So the processes of a trial end also if the driver, the server or
the guard is killed. Only if two of these three are killed at once can some processes survive.
Stopped processes (SIGSTOP) end as well: the kernel continues a process that loses its parent, and
the guard ends the rest with SIGKILL.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import NoReturn

from overtone.worker import process_tree

SERVER_GRACE_S = 1.0
"""Time for the server to end its processes after the driver's death, in seconds."""

END_WITHIN_S = 3.0

_SIGNALS = (signal.SIGCHLD, signal.SIGCONT, signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


def stand_guard(driver: int) -> int:
    """Make this process the guard; the caller continues in a child (Linux only).

    Args:
        driver: The pid of its parent.

    Returns:
        The pid of the caller's new parent.
    """
    if sys.platform != "linux":
        return driver
    guard = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    process_tree.wake_with_parent()
    process_tree.adopt_orphans()
    with suppress(PermissionError):  # it leads a process group already
        os.setsid()
    server = os.fork()
    if server == 0:
        return guard
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # the driver must see the end of the server's connection
        os.dup2(null, descriptor)
    try:
        _exit_as(_watch(driver, server))
    finally:
        os._exit(1)


def _watch(driver: int, server: int) -> int:
    """Wait until the server ends, or end it after the driver's death; return its exit status."""
    give_up_at: float | None = None
    while True:
        status = _reap(server)
        if status is not None:
            _kill_all()
            return status
        if give_up_at is None and os.getppid() != driver:  # else only its thread that started us ended
            give_up_at = time.monotonic() + SERVER_GRACE_S
            os.kill(server, signal.SIGHUP)
            os.kill(server, signal.SIGCONT)
        left_s = 3600.0 if give_up_at is None else give_up_at - time.monotonic()
        heard = signal.sigtimedwait(_SIGNALS, left_s) if left_s > 0 else None
        if (heard is None and give_up_at is not None) or (
            heard is not None and heard.si_signo == signal.SIGTERM
        ):
            os.kill(server, signal.SIGKILL)
            give_up_at = time.monotonic() + SERVER_GRACE_S


def _reap(server: int) -> int | None:
    """Return the server's exit status, or None while it runs."""
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in (0, server):
            return status if pid else None


def _kill_all() -> None:
    """Kill all children of this process, and descendants that become its children."""
    give_up_at = time.monotonic() + END_WITHIN_S
    while time.monotonic() < give_up_at:
        for pid in process_tree.children(os.getpid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _exit_as(status: int) -> NoReturn:
    """Exit with the server's status: the driver reads the status of this process."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server has left one, if core dumps are on
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
    os._exit(max(code, 1) if code else 0)
