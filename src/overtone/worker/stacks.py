"""Stacks of a trial's processes, on request, also if a process hangs in native code.

Each trial process registers a handler of `SIGNAL` with `faulthandler`: it writes the stacks of all Python
threads without waiting for the GIL. They go to a file in memory that has no path. Whoever asks finds the
file among the descriptors of the process, and sends the signal only if the process handles it, because
the signal would end any other process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from overtone.errors import OvertoneError
from overtone.worker.process_tree import parents

SIGNAL = getattr(signal, "SIGRTMIN", 34) + 13
"""A real-time signal: programs and libraries use SIGUSR1 and SIGUSR2 themselves."""

ANSWER_S = 2.0
"""Seconds that a process gets to write its stacks."""

_QUIET_S = 0.05  # the stacks are complete once nothing was added for as long
_POLL_S = 0.01
_MOST_BYTES = 1 << 18
_MOST_CHILDREN = 32
_NAME = "overtone-stacks"
_SHOWN = 200

_STATES = {
    "D": "in an uninterruptible wait",
    "Z": "it has ended",
    "T": "stopped",
    "t": "stopped by a debugger",
}

_one_at_a_time = threading.Lock()  # forks of one server share a file
_file = -1


def answer_requests() -> None:
    """Let this process, and its forks, write their stacks at `SIGNAL`; without effect off Linux."""
    global _file
    if _file >= 0 or not hasattr(os, "memfd_create"):
        return
    import faulthandler

    with suppress(OSError, RuntimeError):  # A system that refuses: then nobody can ask.
        _file = os.memfd_create(_NAME)
        faulthandler.register(SIGNAL, file=_file, all_threads=True)


def stacks_of(pids: Sequence[int], trial_id: str) -> str:
    """Return the stacks of a trial's processes and of their descendants on this machine, for people.

    A process that does not answer is described by its state instead.

    Raises:
        OvertoneError: The trial has no process.
    """
    pids = [pid for pid in pids if pid]
    if not pids:
        raise OvertoneError(f"trial {trial_id} does not run: it has no process")
    if sys.platform != "linux":
        return f"Stacks are read from Linux's /proc. Try: py-spy dump --pid {pids[0]}\n"
    with _one_at_a_time:
        parts = [_told(pid, is_child=False) for pid in pids]
        below = _descendants(pids)
        parts += [_told(pid, is_child=True) for pid in below[:_MOST_CHILDREN]]
    if len(below) > _MOST_CHILDREN:
        parts.append(f"and {len(below) - _MOST_CHILDREN} more child processes\n")
    return "\n".join(parts)


def own_stacks() -> str:
    """Return the stacks of this process's threads."""
    import faulthandler
    import tempfile

    with tempfile.TemporaryFile() as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        return f"Process {os.getpid()}, which runs the driver and its trials\n{file.read().decode()}"


def _told(pid: int, is_child: bool) -> str:
    """Return the state of a process, and its stacks if it answers."""
    facts = _facts(pid)
    if not facts:
        return f"Process {pid} has ended\n"
    state, _, word = facts.get("State", "?").partition(" ")
    lines = [
        f"Child process {pid}: {_command(pid)}" if is_child else f"Process {pid} on {os.uname().nodename}"
    ]
    wait = _read(pid, "wchan")
    where = f", waits in the kernel in {wait}" if wait not in ("", "0") else ""
    meaning, n_threads = _STATES.get(state, word.strip("()")), facts.get("Threads", "1")
    lines.append(f"State: {state} ({meaning}), {n_threads} thread{'s' * (n_threads != '1')}{where}")
    file = _file_of(pid)
    if file and _has(facts, "SigCgt"):
        stacks = _dumped(pid, file)
        lines.append(_without_own_frames(stacks) or _silence(pid, state, facts))
    elif not is_child:
        lines.append(f"It does not answer requests for its stacks. Try: py-spy dump --native --pid {pid}\n")
    return "\n".join(lines) if lines[-1].endswith("\n") else "\n".join(lines) + "\n"


def _silence(pid: int, state: str, facts: dict[str, str]) -> str:
    """Return why a process that should have answered did not."""
    if state in "Tt":
        return f"It is stopped, and answers once it goes on: kill -CONT {pid}\n"
    if state == "D":
        return "It waits for the kernel, such as for a disk, a network file system or a driver of a device.\n"
    if _has(facts, "SigBlk"):
        return f"It blocks signals. Try: py-spy dump --native --pid {pid}\n"
    return f"It did not answer within {ANSWER_S:g} s. Try: py-spy dump --native --pid {pid}\n"


def _dumped(pid: int, path: str) -> str:
    """Return what a process writes at the signal; "" if it writes nothing in time."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return ""
    try:
        begin = size = os.fstat(fd).st_size
        with suppress(ProcessLookupError):
            os.kill(pid, SIGNAL)
        now = changed_at = time.monotonic()
        give_up_at = now + ANSWER_S
        while now < give_up_at and (size == begin or now - changed_at < _QUIET_S):
            time.sleep(_POLL_S)
            now, new = time.monotonic(), os.fstat(fd).st_size
            if new != size:
                size, changed_at = new, now
        return os.pread(fd, min(size - begin, _MOST_BYTES), begin).decode("utf-8", "replace")
    finally:
        os.close(fd)


def _without_own_frames(stacks: str) -> str:
    """Return stacks without the frames of Overtone that called the trial."""
    own = (f'  File "{os.path.dirname(__file__)}{os.sep}', '  File "<string>"')
    kept: list[str] = []
    for line in [*stacks.splitlines(), ""]:
        if not line:  # the end of a stack
            while kept and kept[-1].startswith(own) and kept[-2:-1] != [""]:
                kept.pop()
        kept.append(line)
    return "\n".join(kept)


def _file_of(pid: int) -> str:
    """Return a path to the file into which a process writes its stacks; "" if it has none."""
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        for name in os.listdir(folder):
            with suppress(OSError):
                if os.readlink(f"{folder}/{name}") == f"/memfd:{_NAME} (deleted)":
                    return f"{folder}/{name}"
    return ""


def _facts(pid: int) -> dict[str, str]:
    pairs = (line.partition(":") for line in _read(pid, "status").splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _has(facts: dict[str, str], name: str) -> bool:
    """Return whether a set of signals in /proc/PID/status contains `SIGNAL`."""
    try:
        return bool(int(facts.get(name, "0"), 16) >> (SIGNAL - 1) & 1)
    except ValueError:
        return False


def _command(pid: int) -> str:
    command = _read(pid, "cmdline").replace("\0", " ").strip()
    if "from overtone.worker" in command:
        return "a fork of the trial's process"
    return command[:_SHOWN] or _read(pid, "comm")


def _read(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(1 << 16).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _descendants(pids: Sequence[int]) -> list[int]:
    """Return the processes below `pids`, parents first."""
    below: dict[int, list[int]] = {}
    for child, parent in sorted(parents()):
        below.setdefault(parent, []).append(child)
    found: list[int] = []
    todo = list(pids)
    while todo:
        children = below.get(todo.pop(0), [])
        found += children
        todo += children
    return [pid for pid in found if pid not in pids]
