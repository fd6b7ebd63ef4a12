"""The process of a warm server, which may start before its engine is made.

Starting Python takes as long as the driver's own imports. Both run in parallel, so that the
first result comes sooner; this module therefore imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from overtone.engines.default import is_local
from overtone.errors import OvertoneError
from overtone.worker import threads
from overtone.worker.server.python_command import new_python
from overtone.worker.server.requests import BOOT_SERVER


class Newborn(NamedTuple):
    """A server process that has no engine yet.

    Attributes:
        line: The socket to the server.
        prints: The descriptor of the server's stdout and stderr.
        pid: The server's process id.
    """

    line: socket.socket
    prints: int
    pid: int


_waiting: list[Newborn] = []


def take() -> Newborn:
    """Return the server that `ahead` started, or start a server now.

    Raises:
        OvertoneError: This system or this Python cannot start such a process.
    """
    return _waiting.pop() if _waiting else _start()


@contextmanager
def ahead(engine: Any) -> Iterator[None]:
    """Start a server now if a run with this `engine` argument will take one.

    A server that was not taken within the block is ended.
    """
    if not is_local(engine) or sys.platform != "linux" or _waiting:
        yield
        return
    try:
        _waiting.append(_start())
    except (OSError, OvertoneError):
        pass  # the engine will say what is wrong
    try:
        yield
    finally:
        if _waiting:
            from overtone.engines.local.warm_server import WarmServer

            WarmServer(*take()).end(patience_s=4.0)


def _start() -> Newborn:
    if not sys.executable or not hasattr(socket, "send_fds"):
        raise OvertoneError(
            'the local engine needs a Unix system and a Python that can start itself; use engine="inline"'
        )
    line, theirs = socket.socketpair()
    prints, their_prints = os.pipe()
    environment = dict(os.environ)
    environment.update(dict.fromkeys(threads.unset_variables(environment), "1"))
    moves = [
        (os.POSIX_SPAWN_DUP2, theirs.fileno(), 0),
        (os.POSIX_SPAWN_DUP2, their_prints, 1),
        (os.POSIX_SPAWN_DUP2, their_prints, 2),
    ]
    command = new_python(BOOT_SERVER, "-1", str(os.getpid()))
    # a Ctrl-C that comes before the server ignores it must not end it
    pid = os.posix_spawn(
        command[0], command, environment,
        file_actions=moves, setsigmask=[signal.SIGINT], setpgroup=0,  # see `lineage.GROUP_OF_ITS_OWN`
        setsigdef=[signal.SIGCHLD],  # if ignored, the guard would miss the ends of processes
    )  # fmt: skip
    theirs.close()
    os.close(their_prints)
    return Newborn(line, prints, pid)
