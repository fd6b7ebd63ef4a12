"""Transfer of checkpoints between the driver's store and nodes that do not see the driver's disk.

A request is a frame and perhaps files; so is an answer. A file is a frame with its name and
length, followed by its bytes. Frames hold JSON, which is safe to read, because trials send them.
"""

from __future__ import annotations

import hmac
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from overtone.core.json_encoder import encoder
from overtone.core.sizes import LONGEST_LINE
from overtone.core.store import Store
from overtone.engines.ray.connection import TOKEN_BYTES, call, set_up
from overtone.errors import DamagedError, NoRoomError, StorageError
from overtone.regular_files import open_regular
from overtone.store.folder_mark import FolderMark
from overtone.store.leftovers import TRIAL

IGNORE_WITHIN_S = 30.0

_CHUNK_BYTES = 1 << 20
_encode = encoder()
_ERRORS = {"DamagedError": DamagedError, "NoRoomError": NoRoomError}


class Carried(Store):
    """The store behind a `Carrier`; picklable, and cheap to make.

    Args:
        address: Address of the carrier.
        token: Token of the run.
        cache: Folder for fetched checkpoints on this node.
    """

    def __init__(self, address: tuple[str, int], token: bytes, cache: str) -> None:
        self._address, self._token, self._cache = address, token, cache

    def keeping_in(self, cache: Path) -> Carried:
        """Return the same store with another folder for fetched checkpoints."""
        return Carried(self._address, self._token, str(cache))

    def put(self, source: Path, key: str, move: bool = False) -> str:
        """Put a folder into the driver's store; with `move`, delete `source` afterwards.

        Raises:
            StorageError: The store or the connection to it failed.
        """
        with self._connection() as line:
            line.send(("put", key))
            line.send_folder(source)
            uri: str = line.answer()
        if move:
            shutil.rmtree(source, ignore_errors=True)
        return uri

    def get(self, uri: str) -> Path:
        """Return a read-only copy on this node, which the driver's store has checked.

        Raises:
            DamagedError: The checkpoint is missing from the store, or is damaged.
            StorageError: The store or the connection to it failed.
        """
        cache = Path(self._cache)
        cache.mkdir(parents=True, exist_ok=True)
        with self._connection() as line:
            line.send(("get", uri))
            line.answer()
            # a new copy for each call: other readers may use the last one
            folder = Path(tempfile.mkdtemp(prefix="checkpoint_", dir=cache))
            line.receive_folder(folder)
        return folder

    def add_files(self, files: Mapping[str, Path]) -> None:
        """Copy files into the folders of trials at the driver.

        Raises:
            StorageError: The driver does not take them, or the connection to it failed.
        """
        with self._connection() as line:
            line.send(("files", ""))
            line.send_files(files.items())
            line.answer()

    def delete(self, uri: str) -> None:
        """Delete a checkpoint from the driver's store."""
        with self._connection() as line:
            line.send(("delete", uri))
            line.answer()

    def list(self, prefix: str = "") -> list[str]:
        """Return the checkpoints of the driver's store, as its `list` does."""
        with self._connection() as line:
            line.send(("list", prefix))
            found: list[str] = line.answer()
        return found

    def _connection(self) -> _Line:
        try:
            return _Line(call(self._address, self._token))
        except OSError as error:
            raise StorageError(
                f"the driver's store at {self._address[0]} cannot be reached: {error}"
            ) from error


def fetch_file(address: tuple[str, int], token: bytes, path: str, target: Path) -> None:
    """Copy a file of the driver to `target`.

    Args:
        address: Address of the carrier.
        token: Token of the run.
        path: Path of the file at the driver.
        target: Path of the copy on this node.

    Raises:
        StorageError: The driver does not offer the file, or hung up.
        OSError: The driver cannot be reached, or `target` cannot be written.
    """
    with _Line(call(address, token)) as line:
        line.send(("file", path))
        line.receive_file(target, line.answer())


class Carrier:
    """Server at the driver that gives the nodes of a run access to its store and files; uses threads.

    Args:
        store: The store; None if nodes use none.
        ip: IP address of the driver, as nodes see it.
        token: Token of the run; callers without it are disconnected.
        files: Paths of the files that nodes may fetch.
        home: The experiment's folder, where nodes may add files of trials; None if they may not.

    Attributes:
        address: (ip, port) of the server.
    """

    def __init__(
        self,
        store: Store | None,
        ip: str,
        token: bytes,
        files: Collection[str] = (),
        home: FolderMark | None = None,
    ) -> None:
        self._store, self._token, self._files, self._home = store, token, frozenset(files), home
        self._sock = socket.create_server((ip, 0), backlog=256)
        self.address: tuple[str, int] = (ip, self._sock.getsockname()[1])
        threading.Thread(target=self._accept, name="overtone-carrier", daemon=True).start()

    def close(self) -> None:
        """Stop accepting requests."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._sock.close()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._sock.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(caller,), daemon=True).start()

    def _serve(self, caller: socket.socket) -> None:
        set_up(caller)
        with _Line(caller) as line, suppress(StorageError, OSError):
            if not hmac.compare_digest(line.take(TOKEN_BYTES), self._token):
                return
            request = line.receive()
            if type(request) is not list or [type(one) for one in request] != [str, str]:
                return
            what, argument = request
            try:
                answer = self._carry_out(line, what, argument)
            except Exception as error:
                line.send(("error", type(error).__name__, str(error)))
                line.ignore_rest()
                return
            line.send(("done", answer))
            if what == "get":
                line.send_folder(Path(answer))
            elif what == "file":
                with open_regular(argument) as file:
                    line.send_file(file, answer)

    def _carry_out(self, line: _Line, what: str, argument: str) -> Any:
        if what == "file":
            if argument not in self._files:
                raise StorageError(f"the driver does not offer {argument}")
            return os.path.getsize(argument)
        if what == "files":
            return self._add_files(line)
        if self._store is None:
            raise StorageError("the driver offers no store")
        if what == "put":
            with tempfile.TemporaryDirectory(prefix=".put-", dir=self._beside()) as folder:
                received = Path(folder, "received")
                received.mkdir()
                line.receive_folder(received)
                return self._store.put(received, argument, move=True)
        if what == "get":
            return str(self._store.get(argument))
        if what == "delete":
            return self._store.delete(argument)
        return list(self._store.list(argument))

    def _add_files(self, line: _Line) -> None:
        if self._home is None:
            raise StorageError("the driver takes no files")
        with tempfile.TemporaryDirectory(prefix=".put-", dir=self._home.folder) as folder:
            line.receive_folder(Path(folder))
            for path in Path(folder).glob("*/*"):
                trial_id = path.parent.name
                if TRIAL.fullmatch(trial_id) and path.is_file():
                    os.replace(path, self._home.make(trial_id) / path.name)

    def _beside(self) -> str | None:
        # on the store's disk, `put` can move the files
        root = self._store.root if self._store is not None else None
        return str(root) if root is not None and os.path.isdir(root) else None


class _Line:
    """A blocking connection for one request; a context manager."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *_: object) -> None:
        self._sock.close()

    def send(self, message: Any) -> None:
        try:
            body = _encode(message).encode()
            self._sock.sendall(len(body).to_bytes(4, "little") + body)
        except OSError as error:
            raise StorageError(f"the driver's store hung up: {error}") from error

    def receive(self) -> Any:
        length = int.from_bytes(self.take(4), "little")
        if length > LONGEST_LINE:
            raise StorageError(f"a message of {length} bytes: at most {LONGEST_LINE} are read")
        try:
            return json.loads(self.take(length))
        except (ValueError, RecursionError) as error:
            raise StorageError(f"what came is not a message: {error}") from error

    def answer(self) -> Any:
        """Receive an answer and return its value.

        Raises:
            StorageError: The answer is an error.
        """
        kind, *rest = self.receive()
        if kind == "error":
            raise _ERRORS.get(rest[0], StorageError)(rest[1])
        return rest[0]

    def take(self, count: int) -> bytes:
        """Receive exactly `count` bytes."""
        found = bytearray()
        while len(found) < count:
            found += self._some(count - len(found))
        return bytes(found)

    def _some(self, most: int) -> bytes:
        try:
            data = self._sock.recv(min(most, _CHUNK_BYTES))
        except OSError as error:
            raise StorageError(f"the driver's store hung up: {error}") from error
        if not data:
            raise StorageError("the driver's store hung up")
        return data

    def ignore_rest(self) -> None:
        """Read until the caller hangs up: a caller that still sends has not read the answer yet."""
        self._sock.shutdown(socket.SHUT_WR)
        self._sock.settimeout(IGNORE_WITHIN_S)
        while self._sock.recv(_CHUNK_BYTES):
            pass

    def send_folder(self, folder: Path) -> None:
        """Send everything below `folder`, and an end mark."""
        for where, names, files in os.walk(folder, followlinks=True):
            for name in names:
                self.send(("folder", Path(where, name).relative_to(folder).as_posix(), 0))
            paths = [Path(where, name) for name in files]
            self._send_each((path.relative_to(folder).as_posix(), path) for path in paths)
        self.send(("end", "", 0))

    def send_files(self, files: Iterable[tuple[str, Path]]) -> None:
        """Send files under other names, and an end mark."""
        files = list(files)
        for name in filter(None, dict.fromkeys(os.path.dirname(name) for name, _ in files)):
            self.send(("folder", name, 0))
        self._send_each(files)
        self.send(("end", "", 0))

    def _send_each(self, files: Iterable[tuple[str, Path]]) -> None:
        for name, path in files:
            with open_regular(path) as file:
                size = os.fstat(file.fileno()).st_size
                self.send(("file", name, size))
                self.send_file(file, size)

    def send_file(self, file: BinaryIO, size: int) -> None:
        """Send the first `size` bytes of a file."""
        if size:
            try:
                self._sock.sendfile(file, count=size)
            except OSError as error:
                raise StorageError(f"the driver's store hung up: {error}") from error

    def receive_folder(self, folder: Path) -> None:
        """Receive the files of `send_folder` into `folder`."""
        while True:
            kind, name, size = self.receive()
            if kind == "end":
                return
            path = folder / name
            if folder.resolve() not in path.resolve().parents:
                raise StorageError(f"{name!r} leaves the folder of its checkpoint")
            if kind == "folder":
                path.mkdir(parents=True, exist_ok=True)
                continue
            self.receive_file(path, size)

    def receive_file(self, path: Path, size: int) -> None:
        """Receive the bytes of `send_file` into a file."""
        with path.open("wb") as file:
            while size:
                data = self._some(size)
                file.write(data)
                size -= len(data)
