"""Runs a submitted script on the head, apart from any connection, until it ends.

The script runs in a session of its own. It writes to the log itself, or to a pseudo-terminal that is copied
to the log, so that it draws its live table for the person who submitted it.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.cluster.run_folder import RunFolder, cluster_folder, temporary_variables
from overtone.cluster.run_log import LogWriter
from overtone.errors import OvertoneError

RESUME = "OVERTONE_RESUME"
EXPERIMENTS = "OVERTONE_EXPERIMENT_LIST"
"""Variables of `run.resume.target` and `run.storage.experiment_list`, whose import takes a second."""

_LOOK_S = 1.0
_CHUNK_BYTES = 1 << 16
_TRIES, _TRY_AGAIN_S = 50, 0.02
NOT_STARTED = 127
"""The exit status of a script that cannot be started, as in a shell."""


def supervise(run: RunFolder) -> None:
    """Run the script of a run to its end; do nothing if it is driven already, or has ended.

    A SIGTERM comes from a machine that shuts down or takes the job back: the script gets it, and saves. The
    run is not over then: the next call resumes its experiment.
    """
    lock = _taken(run)
    if lock is None:
        return
    try:
        if run.exit_status() is not None or run.process() is not None:  # A killed driver has left its script.
            return
        terminated = _leave_connection(run)
        run.reserve_exit()
        status = _run(run, run.command())
        while not terminated:
            try:
                run.note_exit(status)
                return
            except OSError:  # a full disk that takes away even the reserved room
                time.sleep(_LOOK_S)
    finally:
        os.close(lock)


def resize(run: RunFolder, columns: int, rows: int) -> None:
    """Tell the script's terminal its new size."""
    (run.path / "size").write_text(f"{columns} {rows}")


def _taken(run: RunFolder) -> int | None:
    for _ in range(_TRIES):
        lock = run.take()
        if lock is not None:
            return lock
        time.sleep(_TRY_AGAIN_S)  # A reader may hold it for an instant.
    return None


def _leave_connection(run: RunFolder) -> list[int]:
    """Outlive the connection that began this process, and pass signals on to the script.

    Shells start background processes with SIGINT ignored, which the script would inherit: a handler ends
    that.

    Returns:
        The SIGTERMs that came; the list grows.
    """
    terminated: list[int] = []

    def pass_on(signum: int, _: Any) -> None:
        if signum == signal.SIGTERM:
            terminated.append(signum)
        run.interrupt(signum)

    with suppress(PermissionError):  # it leads its session already
        os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, pass_on)
    return terminated


def _run(run: RunFolder, command: dict[str, Any]) -> int:
    terminal = command.get("terminal")
    words = [sys.executable if word is None else word for word in command["command"]]
    folder = Path(os.path.expanduser(command["directory"]))
    environment = _environment(run, command)
    master = slave = None
    log = os.open(run.path / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if terminal:
            master, slave = pty.openpty()
            _set_size(master, *terminal["size"])
        output = log if slave is None else slave
        try:
            # The script's process records itself. If this process did, and were killed just before, another
            # driver would start the script again.
            process = subprocess.Popen(
                words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True, preexec_fn=lambda: run.note_process(os.getpid()),
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            why = error.strerror if isinstance(error, OSError) else "its process cannot be recorded"
            os.write(log, f"overtone: {words[0]} in {folder} cannot be started: {why}\n".encode())
            return NOT_STARTED
        if slave is not None and master is not None:
            os.close(slave)
            slave = None
            _copy(run, master, process)
        status = process.wait()
        return status if status >= 0 else 128 - status
    finally:
        for fd in (log, master, slave):
            if fd is not None:
                os.close(fd)


def _copy(run: RunFolder, master: int, process: subprocess.Popen[bytes]) -> None:
    """Copy what the terminal shows to the log until the script has ended."""
    writer, size = LogWriter(run.path), ""
    try:
        while True:
            has_ended = process.poll() is not None
            ready, _, _ = select.select([master], [], [], 0.0 if has_ended else _LOOK_S)
            if ready:
                try:
                    data = os.read(master, _CHUNK_BYTES)
                except OSError:  # EIO: nobody has the terminal open any more
                    data = b""
                if data:
                    writer.write(data)
                else:
                    process.wait()
                    return
            elif has_ended:  # A process that the script left behind may keep the terminal open.
                return
            size = _follow_size(run, master, process, size)
    finally:
        writer.close()


def _follow_size(run: RunFolder, master: int, process: subprocess.Popen[bytes], known: str) -> str:
    try:
        size = (run.path / "size").read_text()
        if size != known:
            _set_size(master, *map(int, size.split()))
            os.killpg(process.pid, signal.SIGWINCH)
    except (OSError, ValueError, TypeError):
        return known
    return size


def _set_size(fd: int, columns: int, rows: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _environment(run: RunFolder, command: dict[str, Any]) -> dict[str, str]:
    """Return the variables of the script: the cluster's, and those of the submitted terminal."""
    made = {**os.environ, "PYTHONUNBUFFERED": "1", EXPERIMENTS: str(run.path / "experiments")}
    for name in ("COLUMNS", "LINES", "TERM"):
        made.pop(name, None)
    made.update(temporary_variables())
    token = cluster_folder() / "token"
    if token.is_file():
        made.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=str(token))
    if command.get("on_ray", True):
        made.setdefault("RAY_ADDRESS", "auto")
        made.setdefault("RAY_SCHEDULER_EVENTS", "0")  # the run says itself what it waits for
    made["OVERTONE_CLUSTER"] = command["cluster"]
    terminal = command.get("terminal") or {}
    made.update({name: str(value) for name, value in terminal.get("environment", {}).items()})
    if resume := _to_resume(run, command):
        made[RESUME] = resume
    return made


def _to_resume(run: RunFolder, command: dict[str, Any]) -> str | None:
    """Return the experiment to resume: the first of this run where it began before, else the given one."""
    begun = run.experiments()
    if begun:
        return str(begun[0]["url"] or begun[0]["folder"])
    given = command.get("resume")
    if not given:
        return None
    if not isinstance(given, str):
        raise OvertoneError(f"resume={given!r}: must be a folder or a URL")
    return os.path.expanduser(given)
