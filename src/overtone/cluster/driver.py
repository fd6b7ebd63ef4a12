"""The program of submitted runs on the head: `python -m overtone.cluster.driver COMMAND ...`.

    prepare ID             record a run: its command is read from standard input, as JSON
    run ID                 run it to its end; a second one ends at once
    follow ID OFFSET       write its log from an offset, until it has ended
    stop ID [SIGNAL]       send its script SIGINT, as Ctrl-C does; a run that waits does not begin
    resize ID COLUMNS ROWS tell its terminal
    list                   all runs of this head
    experiments            what is in folders of experiments, as `listing.describe` says
    journal PATH OFFSET CRC  write the whole lines of a journal from an offset

Answers are one line of JSON after `REPLY`, since profiles of login shells may print, too.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from overtone.cluster.run_folder import RunFolder, cluster_folder, runs
from overtone.cluster.run_log import FOLLOWED, REPLY, end, first_offset, read
from overtone.errors import OvertoneError

_POLL_S = 0.1


def main(arguments: list[str]) -> int:
    """Carry out one command; returns the exit status."""
    verb, *rest = arguments
    try:
        if verb == "run":
            from overtone.cluster.supervise import supervise

            supervise(RunFolder(rest[0]))
        elif verb == "follow":
            _follow(RunFolder(rest[0]), int(rest[1]))
        elif verb == "journal":
            from overtone.cluster.listing import write_journal

            write_journal(rest[0], int(rest[1]), int(rest[2]))
        else:
            _reply(_answer(verb, rest))
    except BrokenPipeError:  # the reader is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except (OvertoneError, OSError) as error:
        _reply({"error": str(error)})
        return 1
    return 0


def _answer(verb: str, rest: list[str]) -> Any:
    if verb == "prepare":
        return prepare(RunFolder(rest[0]), json.load(sys.stdin))
    if verb == "list":
        return [run.facts() for run in runs()]
    if verb == "stop":
        signum = int(rest[1]) if len(rest) > 1 else signal.SIGINT
        return {"stopped": stop(RunFolder(rest[0]), signum)}
    if verb == "resize":
        from overtone.cluster.supervise import resize

        return resize(RunFolder(rest[0]), int(rest[1]), int(rest[2]))
    if verb == "experiments":
        from overtone.cluster.listing import describe

        return describe(json.load(sys.stdin))
    raise OvertoneError(f"{verb!r} is not a command of the driver")


def prepare(run: RunFolder, command: dict[str, Any]) -> dict[str, Any]:
    """Record a run, unless the same script runs already; twice is safe.

    Returns:
        {"made": id}, or {"running": facts of the other run}.
    """
    folder = cluster_folder() / "runs"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)  # two at the same moment
        for other in runs():
            is_same = other.id != run.id and other.command().get("key") == command.get("key")
            if is_same and other.state() in ("running", "waiting"):
                return {"running": other.facts()}
        run.create(command)
    finally:
        os.close(fd)
    return {"made": run.id}


def stop(run: RunFolder, signum: int) -> bool:
    """Send the script a signal, or let a run that has not begun end; return whether there was one."""
    if (run.path / "command.json").is_file() and run.state() == "waiting":
        run.note_exit(128 + signal.SIGINT)
        return True
    return run.interrupt(signum)


def _follow(run: RunFolder, offset: int) -> None:
    run.command()  # else there is no such run
    offset = first_offset(run.path, offset)
    _write(FOLLOWED + b"%d\n" % offset)
    while True:
        state = run.state()  # before the last read: what comes with the end is read, too
        offset = max(offset, first_offset(run.path, offset))
        for data in read(run.path, offset):
            _write(data)
            offset += len(data)
        if state in ("ended", "lost") and offset >= end(run.path):
            return
        if _reader_left(_POLL_S):
            return


def _reader_left(wait_s: float) -> bool:
    """Wait, and return whether nobody reads any more: a reader whose machine is gone must not keep us."""
    poll = select.poll()
    poll.register(1, 0)
    began = time.monotonic()
    found = any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(wait_s * 1000))
    if not found and (rest := wait_s - (time.monotonic() - began)) > 0:
        time.sleep(rest)
    return found


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def _reply(answer: Any) -> None:
    _write(REPLY + json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1:]))
