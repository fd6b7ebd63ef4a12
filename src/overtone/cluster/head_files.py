"""Commands and files on the head of a cluster that is up: `overtone exec`, `get` and `put`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import join, quote

from overtone.cluster.config import ClusterConfig
from overtone.cluster.following import Screen
from overtone.cluster.interrupts import can_ask
from overtone.cluster.provider_modules import provider_of
from overtone.cluster.remote import Remote, home_path
from overtone.cluster.run_folder import TEMPORARY
from overtone.cluster.state import State
from overtone.cluster.upload import NEVER, work_folder
from overtone.errors import OvertoneError

_VARIABLES = (
    'export RAY_ADDRESS=auto; d="${OVERTONE_CLUSTER_FOLDER:-$HOME/.overtone/cluster}"; t="$d/token"; '
    '[ -f "$t" ] && export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$t"; '
    f'd=$(cat "$d/{TEMPORARY}" 2>/dev/null); [ -n "$d" ] && export RAY_TMPDIR="$d" TMPDIR="$d"; '
)
"""The variables that Ray's own commands need on the head."""


def head_of(config: ClusterConfig) -> Remote:
    """Return the head of a cluster that is up.

    Raises:
        OvertoneError: It is not up.
    """
    state = State(config.name)
    if state.info().get("phase") in (None, "down"):
        raise OvertoneError(
            f"cluster {config.name} is not up; overtone up {quote(str(config.source))} starts it"
        )
    return provider_of(config).reach(config, state)


def execute(config: ClusterConfig, words: Sequence[str]) -> int:
    """Run a command on the head, where the uploaded files are, and return its exit status.

    Args:
        words: The command; a single word is shell text.
    """
    remote = head_of(config)
    command = words[0] if len(words) == 1 else join(words)
    whole = f"cd {home_path(work_folder(config))} 2>/dev/null; {_VARIABLES}{command}"
    if can_ask():
        return remote.shell(whole)
    return remote.stream(whole, Screen().write, _input())


def _input() -> int | None:
    """Return this process's standard input, which the command reads; None for a terminal or none."""
    try:
        return None if sys.stdin.isatty() else sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or replaced
        return None


def get(config: ClusterConfig, there: str, here: Path) -> None:
    """Copy a file or folder from the head, as `cp -r` does.

    Args:
        there: A relative path is below the uploaded files, "~/" is the home.
        here: A folder that exists gets the copy in it.

    Raises:
        OvertoneError: There is no such file.
    """
    remote, path = head_of(config), _path(config, there)
    kind = _kind(remote, path)
    if kind == "missing":
        raise OvertoneError(f"{there}: there is no such file on {remote.name} ({path})")
    target = here / os.path.basename(path.rstrip("/")) if here.is_dir() and path.rstrip("/") != "~" else here
    remote.get(f"{path.rstrip('/')}/" if kind == "folder" else path, target)


def put(config: ClusterConfig, here: Path, there: str) -> None:
    """Copy a file or folder to the head, as `cp -r` does.

    Args:
        there: As for `get`; a folder that exists gets the copy in it.

    Raises:
        OvertoneError: There is no such file.
    """
    if not here.exists():
        raise OvertoneError(f"{here}: there is no such file on this machine")
    remote, path = head_of(config), _path(config, there)
    if there.endswith("/") or _kind(remote, path) == "folder":
        path = f"{path.rstrip('/')}/{here.absolute().name}"
    remote.put(here, path, [one for one in NEVER if "/" not in one] if here.is_dir() else ())


def _path(config: ClusterConfig, path: str) -> str:
    return path if path.startswith(("/", "~/")) else f"{work_folder(config)}/{path}".removesuffix("/.")


def _kind(remote: Remote, path: str) -> str:
    """Return "folder", "file" or "missing"."""
    quoted = home_path(path)
    done = remote.run(f"if [ -d {quoted} ]; then echo folder; elif [ -e {quoted} ]; then echo file; fi")
    return (done.text.splitlines() or [""])[-1] or "missing"
