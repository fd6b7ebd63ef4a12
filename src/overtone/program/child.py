"""A program as a child process with its own process group: how it starts, is frozen, and ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from overtone.errors import TrainableError
from overtone.worker import process_tree

KILL_WITHIN_S = 3.0
_LOOK_S = 0.01


class Child:
    """A running program. Its process leads a session, so that it and its own children get signals together.

    Args:
        words: The command.
        environment: The variables of its environment.
        directory: Its working directory.

    Raises:
        TrainableError: The program cannot be started.
    """

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
        process_tree.adopt_orphans()
        command = list(words)
        if (
            command[0] in ("python", "python3")
            and shutil.which(command[0], path=environment.get("PATH")) is None
        ):
            command[0] = sys.executable
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                env=dict(environment), cwd=directory, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise TrainableError(why_not(command, directory, error)) from None
        except ValueError as error:  # such as a null character
            raise TrainableError(f"the command {command!r} cannot be passed to a program: {error}") from None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self.stdout: IO[bytes] = self._process.stdout
        self.stderr: IO[bytes] = self._process.stderr

    @property
    def status(self) -> int | None:
        """The exit status, minus the number of a signal that killed it; None while it runs."""
        return self._process.poll()

    def has_open(self, folder: Path) -> bool:
        """Return whether a process of the program has a file below `folder` open (Linux only)."""
        inside = f"{os.path.realpath(folder)}{os.sep}"
        pids, parents = {self._process.pid}, dict(process_tree.parents())
        for pid in parents:
            above = pid
            while above in parents and above not in pids:
                above = parents[above]
            if above not in pids:
                continue
            with suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/fd"):
                    with suppress(OSError):
                        if os.readlink(f"/proc/{pid}/fd/{name}").startswith(inside):
                            return True
        return False

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let the program do nothing during the block."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def end(self, grace_s: float, is_asked: bool, read: Callable[[float], object]) -> None:
        """End the program: by itself if it was asked to, at SIGTERM, or at SIGKILL.

        Args:
            grace_s: Seconds until SIGKILL.
            is_asked: Whether the program was told to end, and has half of the time before SIGTERM.
            read: Reads its output for at most the given seconds: a program may wait for that.
        """
        deadline = time.monotonic() + grace_s
        if is_asked:
            self._await(deadline - grace_s / 2, read)
        if self.status is None:
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
            self._await(deadline, read)
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the program: its group, and processes that left the group."""
        self._signal(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(KILL_WITHIN_S)
        deadline = time.monotonic() + KILL_WITHIN_S
        while left := process_tree.children(os.getpid()):  # the children of a child that ended become ours
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if time.monotonic() > deadline:
                return
            time.sleep(_LOOK_S)

    def close(self) -> None:
        """Close its pipes."""
        self.stdout.close()
        self.stderr.close()

    def _await(self, deadline: float, read: Callable[[float], object]) -> None:
        while self.status is None and (left_s := deadline - time.monotonic()) > 0:
            read(min(left_s, 0.05))

    def _signal(self, number: int) -> None:
        if self._process.returncode is None or number == signal.SIGKILL:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)


def why_not(command: Sequence[str], directory: str, error: OSError | None = None) -> str:
    """Return why a command cannot run in a directory, as far as one can tell; "" if nothing is wrong."""
    if not os.path.isdir(directory):
        return f"the working directory {directory!r} is not there"
    first = command[0]
    path = shutil.which(first if os.sep not in first else os.path.join(directory, first))
    if path is None and first not in ("python", "python3"):
        at = Path(directory, first)
        if at.is_file():
            return f"the program {first!r} is not executable: write python {first}, or chmod +x {first}"
        return f"the program {first!r} is not there: it is neither on the PATH nor a file in {directory}"
    script = next((word for word in command[1:] if not word.startswith("-")), "")
    is_python = os.path.basename(first).startswith("python") and not {"-m", "-c"} & set(command[1:2])
    if is_python and script.endswith(".py") and not Path(directory, script).is_file():
        return f"the program {script!r} is not there: {directory} has no such file"
    return f"the command {' '.join(command)!r} cannot be started: {error}" if error else ""
