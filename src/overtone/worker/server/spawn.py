"""Trial processes that start as new interpreters, if forking the server is unsafe or unknown."""

from __future__ import annotations

import atexit
import os
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

from overtone.core.messages import Start
from overtone.worker import output, process_tree, sigterm, stacks
from overtone.worker.gang.plan import RankOrder
from overtone.worker.protocol import SocketChannel
from overtone.worker.server.driver_environment import explain, load_job, take_over
from overtone.worker.server.preparation import make_ready
from overtone.worker.server.python_command import new_python
from overtone.worker.server.requests import BOOT_TRIAL
from overtone.worker.server.worker_process import serve


def spawn(file: int, descriptors: list[int], board: int) -> int:
    """Start a process with the Job in the descriptor `file`.

    Args:
        file: Descriptor of the file with the Job.
        descriptors: The process's connection to the driver, its stdout, its stderr.
        board: Descriptor where the process notes a SIGTERM; see `sigterm`.

    Returns:
        The pid of the process.
    """
    for one in (file, board):
        os.set_inheritable(one, True)
    command = new_python(BOOT_TRIAL, str(file), str(os.getpid()), str(board))
    moves = [(os.POSIX_SPAWN_DUP2, one, target) for target, one in enumerate(descriptors)]
    return os.posix_spawn(command[0], command, os.environ, file_actions=moves)


def main(file: int, server: int, board: int) -> NoReturn:
    """Run as a trial's process; descriptor 0 is its connection to the driver."""
    process_tree.become_trial_process(server)
    for one in (file, board):
        os.set_inheritable(one, False)
    sigterm.listen(board)
    line = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    output.show_lines_at_once()
    stacks.answer_requests()
    surroundings = take_over(file)
    channel = SocketChannel(line)

    def run() -> None:
        try:
            first = channel.receive(wait=True)
        except EOFError:
            return
        if not isinstance(first, (Start, RankOrder)):
            return
        start = first if isinstance(first, Start) else first.start
        make_ready(start, surroundings)  # The user's modules may look for GPUs as they load.
        try:
            job = load_job(file, surroundings)
        except BaseException as error:
            channel.send(("ended", start.trial_id, start.attempt, "raised", *explain(error)))
            return
        serve(channel, job, surroundings, first)

    run_to_the_end(run)


def run_to_the_end(body: Callable[[], None]) -> NoReturn:
    """Call `body`, then end this process at once, even if other threads run.

    Exit handlers run only if `body` registered any, such as a logger that must still send.
    """
    code = 1
    try:
        handlers = atexit._ncallbacks()
        body()
        if atexit._ncallbacks() > handlers:
            atexit._run_exitfuncs()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        output.flush_output()
        os._exit(code)
