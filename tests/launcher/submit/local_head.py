"""A head on this machine: another home, and commands in a shell of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from overtone.cluster.remote import Finished, RemoteError, UnreachableError

REPOSITORY = Path(__file__).parents[3]


class LocalRemote:
    """Runs commands here, in the home that is given.

    Args:
        home: The home there.

    Attributes:
        cuts: After how many bytes the next streams lose their connection, the first one first.
        is_gone: Whether the machine answers no more.
    """

    def __init__(self, home: Path) -> None:
        self.name, self.home = "head", home
        home.mkdir(parents=True, exist_ok=True)
        self.cuts: list[int] = []
        self.is_gone = False
        self.n_streams = 0

    def run(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> Finished:
        self._check()
        noisy = f"echo a profile that prints; {command}"
        done = subprocess.run(
            ["bash", "-c", noisy], input=input, capture_output=True, timeout=10 * timeout_s, check=False, **self._where()
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def stream(
        self, command: str, on_output: Callable[[bytes], None], stdin: int | None = None
    ) -> int:
        self._check()
        self.n_streams += 1
        left = self.cuts.pop(0) if self.cuts else None
        process = subprocess.Popen(
            ["bash", "-c", f"echo a profile that prints; exec {quote_exec(command)}"],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL if stdin is None else stdin, stderr=subprocess.STDOUT, **self._where(),
        )  # fmt: skip
        assert process.stdout is not None
        try:
            while data := os.read(process.stdout.fileno(), 1000 if left is None else min(1000, left)):
                on_output(data)
                if left is not None:
                    left -= len(data)
                    if left <= 0:
                        raise UnreachableError("head: the connection was lost.")
            return process.wait()
        finally:
            process.stdout.close()
            process.terminate()
            process.wait()

    def begin(self, command: str) -> None:
        self._check()
        script = f"setsid nohup bash -c {quote(command)} </dev/null >/dev/null 2>&1 &"
        subprocess.run(["bash", "-c", script], check=True, **self._where())

    def put(self, source: Path, target: str, exclude: Sequence[str] = ()) -> None:
        self._check()
        there = self._path(target)
        (there if source.is_dir() else there.parent).mkdir(parents=True, exist_ok=True)
        self._rsync(f"{source}/" if source.is_dir() else str(source), str(there), exclude)

    def get(self, source: str, target: Path, exclude: Sequence[str] = ()) -> None:
        self._check()
        (target if source.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
        self._rsync(str(self._path(source)) + ("/" if source.endswith("/") else ""), str(target), exclude)

    @contextmanager
    def forward(self, port: int) -> Iterator[int]:
        yield port

    def shell(self, command: str | None = None) -> int:
        return subprocess.run(["bash", "-c", command or "true"], check=False, **self._where()).returncode

    def _path(self, path: str) -> Path:
        return self.home / path[2:] if path.startswith("~/") else Path(path)

    def _rsync(self, source: str, target: str, exclude: Sequence[str]) -> None:
        words = ["rsync", "-rlptz", "--partial-dir=.rsync-partial", *(f"--exclude={one}" for one in exclude)]
        done = subprocess.run([*words, "--", source, target], capture_output=True, check=False)
        if done.returncode:
            raise RemoteError(f"{source} to {target}: {done.stderr.decode()}")

    def _where(self) -> dict[str, object]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OVERTONE", "RAY_"))}
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        mine = {"HOME": str(self.home), "PATH": path, "PYTHONPATH": str(REPOSITORY / "src")}
        return {"cwd": self.home, "env": {**kept, **mine}}

    def _check(self) -> None:
        if self.is_gone:
            raise UnreachableError("head: no answer.")


def quote_exec(command: str) -> str:
    return f"bash -c {quote(command)}"
