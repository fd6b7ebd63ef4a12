"""SSH logins on this machine. A cluster does not count as idle while a user works on its head."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil

from overtone.cluster.marked_processes import network_of

SILENT_S = 3600.0
"""Seconds after which a terminal that shows only its shell's prompt does not count: its user has left."""

SERVERS = ("sshd", "sshd-session", "sshd-auth")
"""Names of OpenSSH's processes; since version 9.8 each connection is an `sshd-session`."""


def logins(silent_s: float = SILENT_S) -> list[str]:
    """Return this user's logins by SSH, such as "bash on pts/3" or "rsync".

    A connection counts if it runs a command or a shell. A tunnel alone does not, nor does a control
    connection that is kept open. A shell that waits at its prompt counts until its terminal has been
    silent for `silent_s` seconds. Logins in containers on this machine do not count.
    """
    mine, network = os.getuid(), network_of("self")
    found = []
    for process in psutil.process_iter():
        try:
            parent = process.parent()
            if (
                parent is not None
                and parent.name() in SERVERS
                and process.name() not in SERVERS
                and process.uids().real == mine
                and network_of(process.pid) == network
                and not _has_left(process, silent_s)
            ):
                terminal = process.terminal()
                found.append(
                    f"{process.name()} on {terminal.removeprefix('/dev/')}" if terminal else process.name()
                )
        except psutil.Error:
            continue  # it has just ended
    return found


def _has_left(shell: psutil.Process, silent_s: float) -> bool:
    """Return whether a login's terminal is silent at the prompt."""
    terminal = shell.terminal()
    if not terminal:
        return False
    try:
        group, foreground = _groups(shell.pid)
        used_at = os.stat(terminal)
    except (OSError, ValueError, IndexError):
        return False
    return group == foreground and time.time() - max(used_at.st_atime, used_at.st_mtime) > silent_s


def _groups(pid: int) -> tuple[int, int]:
    """Return a process's group and the group in the foreground of its terminal."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[2]), int(fields[5])
