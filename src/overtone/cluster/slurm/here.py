"""This machine as a `Remote`, where it is a login node itself."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from overtone.cluster.remote import Finished, RemoteError, last_lines
from overtone.errors import OvertoneError


class LocalRemote:
    """This machine, with the environment of this process."""

    def __init__(self) -> None:
        self.name = platform.node()

    def run(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> Finished:
        """Run a command to its end, or end it after `timeout_s` seconds (status 124)."""
        process = _started(
            command, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, stderr=subprocess.PIPE
        )
        status = None
        try:
            output, errors = process.communicate(input, timeout_s)
        except subprocess.TimeoutExpired:
            _end(process)
            output, errors = process.communicate()
            status = 124
        except BaseException:
            _end(process)
            raise
        return Finished(process.returncode if status is None else status, output, errors)

    def stream(
        self, command: str, on_output: Callable[[bytes], None], stdin: int | None = None
    ) -> int:
        """Run a command, pass its output and its errors on as they come, and return its status."""
        given = subprocess.DEVNULL if stdin is None else stdin
        process = _started(command, stdin=given, stderr=subprocess.STDOUT)
        assert process.stdout is not None
        try:
            while data := os.read(process.stdout.fileno(), 65536):
                on_output(data)
            return process.wait()
        finally:
            _end(process)
            process.stdout.close()

    def begin(self, command: str) -> None:
        """Start a command that outlives this call; it has no output."""
        words = ["bash", "-c", command]
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def put(self, source: Path, target: str, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder.

        Raises:
            RemoteError: It cannot be copied.
        """
        there = os.path.expanduser(target)
        _rsync(source, there, source.is_dir(), exclude)

    def get(self, source: str, target: Path, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder; the source of a folder ends in "/".

        Raises:
            RemoteError: It cannot be copied.
        """
        _rsync(Path(os.path.expanduser(source)), str(target), source.endswith("/"), exclude)

    @contextmanager
    def forward(self, port: int) -> Iterator[int]:
        """Return the port itself."""
        yield port

    def shell(self, command: str | None = None) -> int:
        """Run a command, or the login shell, on this terminal, and return its status."""
        words = ["bash", "-l"] if command is None else ["bash", "-c", command]
        return subprocess.run(words, check=False).returncode


def _started(command: str, stdin: int, stderr: int) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own: a Ctrl-C goes to this process, which decides what ends."""
    return subprocess.Popen(
        ["bash", "-c", command],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=Path.home(),
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(3)
                return


def _rsync(source: Path, target: str, is_folder: bool, exclude: Sequence[str]) -> None:
    if shutil.which("rsync") is None:
        raise OvertoneError("copying files needs rsync on this machine: sudo apt install rsync")
    slash = "/" if is_folder else ""
    if os.path.realpath(source) == os.path.realpath(target):
        return  # Results lie where they would be brought to.
    Path(target if is_folder else os.path.dirname(target) or ".").mkdir(parents=True, exist_ok=True)
    words = [
        "rsync",
        "-rlpt",
        *(f"--exclude={one}" for one in exclude),
        "--",
        f"{source}{slash}",
        f"{target.rstrip('/')}{slash}",
    ]
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, errors = process.communicate()
    finally:
        _end(process)
    if process.returncode != 0:
        raise RemoteError(f"{source} to {target}: rsync ended with {process.returncode}:{last_lines(errors)}")
