"""The token of a cluster: whoever has it may run code on all its nodes."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from overtone.errors import OvertoneError

ON_NODE = "~/.overtone/cluster/token"
"""Where each node keeps its copy, with mode 0600."""


def read_token(path: Path) -> str:
    """Return the token in a file with mode 0600. A missing file is made, with a new token.

    Two processes that make it at the same moment return the same token.

    Raises:
        OvertoneError: Other users can read the file, or it is empty.
    """
    try:
        _create(path, secrets.token_hex(32))
    except FileExistsError:
        pass
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with open(fd, encoding="ascii") as file:
        if stat.S_IMODE(os.fstat(fd).st_mode) & 0o077:
            raise OvertoneError(f"{path}: other users can read this token; chmod 600 {path}")
        token = file.read().strip()
    if not token:
        raise OvertoneError(f"{path}: is empty; delete it, take the cluster down and start it again")
    return token


def replace_token(path: Path, token: str) -> None:
    """Write a token that another machine has made, atomically, with mode 0600.

    Raises:
        OvertoneError: The text is not a token.
    """
    if not re.fullmatch(r"\S{8,200}", token):
        raise OvertoneError("the cluster's head has no token: take the cluster down where it was started")
    with suppress(FileNotFoundError):
        path.unlink()
    with suppress(FileExistsError):
        _create(path, token)


def environment(path: str = "$HOME/.overtone/cluster/token") -> dict[str, str]:
    """Return the variables with which Ray uses the token in a file. The token itself is not among them.

    Args:
        path: The file; a shell expands the default on a node.
    """
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": path}


def install_command(path: str = ON_NODE) -> str:
    """Return the shell command that writes its standard input to a token file on a node.

    The token travels in the input, not in the command, so that `ps` and logs do not show it. The file is
    replaced atomically, also by several hosts at the same moment that share the folder.
    """
    folder = path.rpartition("/")[0]
    return (
        f"umask 077 && mkdir -p {folder} && chmod 700 {folder} && new=$(mktemp {folder}/.new.XXXXXX) && "
        f'cat > "$new" && mv -f "$new" {path}'
    )


def _create(path: Path, token: str) -> None:
    """Create the file with its whole content, or not at all.

    Raises:
        FileExistsError: There is one already.
    """
    if os.path.lexists(path):
        raise FileExistsError(path)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with open(fd, "w", encoding="ascii") as file:
            file.write(token + "\n")
        os.link(new, path)  # unlike a rename, it never replaces the file of another process
    finally:
        os.unlink(new)
