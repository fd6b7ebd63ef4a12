"""The head of a cluster on Kubernetes: commands, files and ports of its pod.

Commands run with the environment of the container, as Ray does there, and not in a login shell: a profile
would replace the PATH of the image.
"""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from overtone.cluster.kubernetes.job_command import COMMAND_FILE
from overtone.cluster.kubernetes.patterns import files_below, is_excluded
from overtone.cluster.kubernetes.transport import KubernetesError, Pod, Transport
from overtone.cluster.remote import (
    Finished,
    RemoteError,
    UnreachableError,
    home_path,
    last_lines,
)

COPY_S = 3600.0
"""The longest copy of one set of files."""

_SPOOL = 1 << 26
_CLUSTER = '"${OVERTONE_CLUSTER_FOLDER:-$HOME/.overtone/cluster}"'


class KubernetesRemote:
    """The head's container, by `kubectl exec` or its like.

    Args:
        transport: The way to Kubernetes.
        find_head: Returns the head's pod as it is now, or raises KubernetesError.
        is_for_run: Whether the cluster is a RayJob, whose program waits for the first command that is begun.
    """

    def __init__(self, transport: Transport, find_head: Callable[[], Pod], is_for_run: bool) -> None:
        self._transport, self._find_head, self._is_for_run = transport, find_head, is_for_run
        self.name = "the head's pod"

    # commands

    def run(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> Finished:
        """Run a command to its end, or end it after `timeout_s` seconds (status 124)."""
        limited = f"exec timeout -k 5 {timeout_s:g} bash -c {quote(command)}"
        data = None if input is None else io.BytesIO(input)
        with self._reached() as pod:
            return self._transport.exec(pod, ["sh", "-c", limited], data, None, timeout_s + 10)

    def check(self, command: str, *, input: bytes | None = None, timeout_s: float = 60.0) -> str:
        """Run a command to its end, and return what it printed, without surrounding white space.

        Raises:
            RemoteError: It failed; the message has its last 20 lines.
        """
        done = self.run(command, input=input, timeout_s=timeout_s)
        if done.status:
            why = f"took more than {timeout_s:g} s" if done.status == 124 else f"ended with {done.status}"
            said = last_lines(done.output + done.errors)
            shown = command if len(command) <= 100 else f"{command[:97]}..."
            raise RemoteError(f"{self.name}: `{shown}` {why}{':' + said if said else ''}")
        return done.text

    def stream(
        self, command: str, on_output: Callable[[bytes], None], stdin: int | None = None
    ) -> int:
        """Run a command, pass its output and its errors on as they come, and return its status."""
        with self._reached() as pod:
            return self._transport.stream(pod, ["bash", "-c", f"exec 2>&1\n{command}"], on_output)

    def begin(self, command: str) -> None:
        """Start a command that outlives this call and the connection; it has no output.

        The first one on a cluster for one run becomes the RayJob's program.
        """
        if self._is_for_run:
            path = f"{_CLUSTER}/{COMMAND_FILE}"
            # `ln` fails if there is one already: of two that begin at once, one is the job's command
            new = f"{path}.$$"
            give = f"mkdir -p {_CLUSTER} && cat > {new} && ln {new} {path}; s=$?; rm -f {new}; exit $s"
            if self.run(give, input=f"{command}\n".encode()).status == 0:
                return
        self.check(f"setsid nohup bash -c {quote(command)} </dev/null >/dev/null 2>&1 3>&- 4>&- &")

    def shell(self, command: str | None = None) -> int:
        """Run a command, or the login shell, on this terminal, and return its status."""
        with self._reached() as pod:
            words = ["bash", "-li"] if command is None else ["bash", "-lic", command]
            return self._transport.terminal(pod, words)

    @contextmanager
    def forward(self, port: int) -> Iterator[int]:
        """Return a port of this machine's loopback that leads to the head's during the block."""
        with self._reached() as pod:
            tunnel = self._transport.forward(pod, port)
            here = tunnel.__enter__()
        try:
            yield here
        finally:
            tunnel.__exit__(None, None, None)

    # files

    def put(self, source: Path, target: str, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder, there; equal files are skipped, none is deleted."""
        is_folder = source.is_dir()
        folder, _, name = (target.rstrip("/"), "", "") if is_folder else target.rpartition("/")
        names = list(files_below(source, exclude)) if is_folder else [source.name]
        if is_folder:
            there = {path: (size, changed) for path, size, changed in self._listing(folder)}
            names = [one for one in names if one not in there or not _is_same(source / one, *there[one])]
        if not names:
            self.check(f"mkdir -p {home_path(folder or '.')}")
            return
        with tempfile.SpooledTemporaryFile(_SPOOL) as archive:
            with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
                for one in names:
                    tar.add(
                        source / one if is_folder else source, one if is_folder else name, recursive=False
                    )
            archive.seek(0)
            into = home_path(folder or ".")
            # without --overwrite tar removes a file first, and makes a new one: no reader sees a half
            unpack = f"mkdir -p {into} && tar -xzf - -C {into} --no-same-owner"
            with self._reached() as pod:
                done = self._transport.exec(pod, ["bash", "-c", unpack], archive, None, COPY_S)
        if done.status:
            raise RemoteError(f"{source} to {target}: tar ended with {done.status}:{last_lines(done.errors)}")

    def get(self, source: str, target: Path, exclude: Sequence[str] = ()) -> None:
        """Copy a file, or the contents of a folder (which ends in "/"), from there.

        Files that have the same size and time here are skipped: a copy that broke off goes on where it was.
        """
        is_folder = source.endswith("/")
        folder, name = (
            (source.rstrip("/"), "")
            if is_folder
            else ("/".join(source.split("/")[:-1]), source.split("/")[-1])
        )
        place = target if is_folder else target.parent
        place.mkdir(parents=True, exist_ok=True)
        found = self._listing(folder, "" if is_folder else name)
        if not (is_folder or found):
            raise RemoteError(f"{self.name}: {source}: there is no such file")
        wanted = [path for path, size, changed in found
                  if not (exclude and is_excluded(path, exclude))
                  and not _is_same(place / path if is_folder else target, size, changed)]  # fmt: skip
        if wanted:
            self._fetch(home_path(folder or "."), wanted, lambda path: place / path if is_folder else target)

    def _listing(self, folder: str, name: str = "") -> list[tuple[str, int, float]]:
        """Return path, size and time of each regular file there, or of the one with the name."""
        there = home_path(folder or ".")
        only = f" -maxdepth 1 -name {quote(name)}" if name else ""
        command = f"[ -d {there} ] || exit 0; cd {there} && find .{only} -type f -printf '%s %T@ %P\\0'"
        done = self.run(command, timeout_s=COPY_S)
        if done.status:
            raise RemoteError(f"{self.name}: {folder}: cannot be listed:{last_lines(done.errors)}")
        return list(_listed(done.output))

    def _fetch(self, there: str, wanted: Sequence[str], place_of: Callable[[str], Path]) -> None:
        names = io.BytesIO("\0".join(wanted).encode())
        # a file that changes or goes while it is read is no failure: the next copy has it
        pack = f"cd {there} && tar -czf - --null --ignore-failed-read -T -; s=$?; [ $s = 1 ] && s=0; exit $s"
        with tempfile.TemporaryFile() as archive:
            with self._reached() as pod:
                done = self._transport.exec(pod, ["bash", "-c", pack], names, archive, COPY_S)
            archive.seek(0)
            if done.status:
                raise RemoteError(f"{there}: tar ended with {done.status}:{last_lines(done.errors)}")
            _unpack(archive, set(wanted), place_of)

    @contextmanager
    def _reached(self) -> Iterator[Pod]:
        try:
            yield self._find_head()
        except KubernetesError as error:
            raise UnreachableError(f"{self.name}: {error}") from None


def _listed(output: bytes) -> Iterator[tuple[str, int, float]]:
    for entry in output.decode(errors="surrogateescape").split("\0"):
        if entry:
            size, changed, path = entry.split(" ", 2)
            if ".." in path.split("/"):
                raise RemoteError(f"{path!r}: the head lists a file outside of the folder")
            yield path, int(size), float(changed)


def _is_same(path: Path, size: int, changed: float) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_size == size and abs(found.st_mtime - changed) < 2  # tar keeps whole seconds


def _unpack(archive: object, wanted: set[str], place_of: Callable[[str], Path]) -> None:
    """Write the wanted files of an archive, each whole or not at all; nothing else in it is looked at."""
    with tarfile.open(fileobj=archive, mode="r:gz") as tar:  # type: ignore[call-overload]
        for member in tar:
            content = tar.extractfile(member) if member.isfile() and member.name in wanted else None
            if content is None:
                continue
            path = place_of(member.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.name}.{os.getpid()}.new")
            try:
                with open(new, "wb") as file:
                    while data := content.read(1 << 20):
                        file.write(data)
                os.utime(new, (member.mtime, member.mtime))
                os.replace(new, path)
            finally:
                new.unlink(missing_ok=True)
