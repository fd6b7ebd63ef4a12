"""The place where drivers and clients meet: a socket in the experiment's folder, or a port of this machine.

The socket is `control.sock`. Where the file system has no sockets, or the path is too long for a socket,
the driver listens on a port of the loopback interface, and `control.json` has the port and a token that
each client must show. Both files are for their user alone, from their first moment on.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from overtone.regular_files import read_regular

SOCKET = "control.sock"
PORT_FILE = "control.json"
_PRIVATE = ".control"
_LONGEST_PATH = 100  # bytes; the system's limit is 104 on macOS, 108 on Linux
_BACKLOG = 64
_DESCRIPTORS = "/proc/self/fd"


class Listener(NamedTuple):
    """An open way in.

    Attributes:
        socket: Listens; its file or port is known to clients.
        token: The text that each client must show first; "" if the file's rights suffice.
        folder: A descriptor of the experiment's folder, wherever that is moved.
    """

    socket: socket.socket
    token: str
    folder: int

    def close(self) -> None:
        """Stop listening, and remove the file by which clients found the way in."""
        with suppress(OSError):
            os.unlink(PORT_FILE if self.token else SOCKET, dir_fd=self.folder)
        self.let_go()

    def let_go(self) -> None:
        """Close the descriptors of this process alone, as in a forked child."""
        self.socket.close()
        with suppress(OSError):
            os.close(self.folder)


def listen(folder: Path) -> Listener:
    """Open a way in to the experiment in `folder`, whose lock the caller holds.

    What a killed driver left there is replaced.

    Raises:
        OSError: Neither a socket nor a port can be opened.
    """
    at = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        try:
            way = Listener(_listening_socket(folder, at), "", at)
            left = PORT_FILE
        except OSError:
            way = _listening_port(at)
            left = SOCKET
        with suppress(OSError):
            os.unlink(left, dir_fd=at)
        return way
    except BaseException:
        os.close(at)
        raise


def connect(folder: Path, timeout_s: float) -> tuple[socket.socket, str]:
    """Return a connection to the driver of the experiment in `folder`, and the token to show.

    Raises:
        PermissionError: The driver belongs to another user.
        OSError: Nobody listens there.
    """
    try:
        is_socket = stat.S_ISSOCK(os.stat(folder / SOCKET, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        is_socket = False
    if not is_socket:
        return _connected_port(folder, timeout_s)
    at = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        connection.connect(_short_path(folder, at, SOCKET))
        return connection, ""
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(at)


def peer_user(connection: socket.socket) -> int | None:
    """Return the user id of the process at the other end; None if the system cannot tell."""
    if connection.family != getattr(socket, "AF_UNIX", None):
        return None
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        uid: int = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))[1]
        return uid
    if sys.platform == "darwin":  # struct xucred: a version, then the user; SOL_LOCAL and LOCAL_PEERCRED
        found: int = struct.unpack_from("II", connection.getsockopt(0, 1, 76))[1]
        return found
    return None


def _listening_socket(folder: Path, at: int) -> socket.socket:
    """Return a listening socket at `control.sock`.

    It is bound in a folder of mode 0700 and moved when it has its own mode: the umask, which threads
    share, stays as it is, and a stale socket is replaced at once.
    """
    _remove_private(at)
    os.mkdir(_PRIVATE, 0o700, dir_fd=at)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        inner = f"{_PRIVATE}/{SOCKET}"
        listener.bind(_short_path(folder, at, inner))
        os.chmod(inner, 0o600, dir_fd=at)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        os.rename(inner, SOCKET, src_dir_fd=at, dst_dir_fd=at)
        return listener
    except BaseException:
        listener.close()
        raise
    finally:
        _remove_private(at)


def _remove_private(at: int) -> None:
    with suppress(OSError):
        os.unlink(f"{_PRIVATE}/{SOCKET}", dir_fd=at)
    with suppress(OSError):
        os.rmdir(_PRIVATE, dir_fd=at)


def _short_path(folder: Path, at: int, name: str) -> str:
    """Return a path of `name` in the open folder `at` that fits in the address of a socket.

    Raises:
        OSError: There is none on this system.
    """
    path = os.path.join(folder, name)
    if len(os.fsencode(path)) <= _LONGEST_PATH:
        return path
    if os.path.isdir(f"{_DESCRIPTORS}/{at}"):
        return f"{_DESCRIPTORS}/{at}/{name}"
    raise OSError(f"{path} is too long for a socket")


def _listening_port(at: int) -> Listener:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.bind(("127.0.0.1", 0))
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        token = os.urandom(32).hex()
        document = json.dumps({"port": listener.getsockname()[1], "token": token}).encode()
        new = f"{PORT_FILE}.new"
        with suppress(FileNotFoundError):
            os.unlink(new, dir_fd=at)
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at)
        try:
            os.write(fd, document)
        finally:
            os.close(fd)
        os.rename(new, PORT_FILE, src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        listener.close()
        raise
    return Listener(listener, token, at)


def _connected_port(folder: Path, timeout_s: float) -> tuple[socket.socket, str]:
    try:
        found = json.loads(read_regular(folder / PORT_FILE, follow_links=False))
        port, token = int(found["port"]), str(found["token"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConnectionRefusedError(f"{folder / PORT_FILE} names no port") from error
    return socket.create_connection(("127.0.0.1", port), timeout_s), token
