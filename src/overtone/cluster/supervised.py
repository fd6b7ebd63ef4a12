"""Starts a program on a node so that it outlives its login, and is started again if it is killed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from overtone.cluster.head_python import python_command
from overtone.cluster.marked_processes import MARK
from overtone.cluster.tokens import environment

AGAIN_S = 2
"""Seconds until a program that was killed is started again."""

KEPT = ("OVERTONE_CLUSTER", "OVERTONE_CLUSTER_FOLDER", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH")
"""Variables that a program needs after a restart of the machine; none of them is a secret."""

_NO_TABLE = ("no crontab", "No such file")
"""Cron's messages about a user without a table: Debian's and Red Hat's, and BusyBox'."""

_LOOP = 'until "$@"; do sleep {again_s}; done'


def command(name: str, arguments: str) -> str:
    """Return the shell command that runs the Python of a node, as a process of a cluster with a token.

    Args:
        name: The name of the cluster.
        arguments: The arguments of Python, quoted.
    """
    variables = {MARK: shlex.quote(name)}
    variables |= {key: f'"${{{key}:-{value}}}"' for key, value in environment().items()}
    exports = " ".join(f"{key}={value}" for key, value in variables.items())
    return f"export {exports}; {python_command(arguments)}"


def start(module: str, *arguments: str, log: Path) -> None:
    """Start `python -m MODULE ARGUMENTS` in the background until it ends with status 0.

    A shell is its parent: it needs almost no memory, so a kernel without memory ends others first.

    Args:
        module: The module.
        arguments: The arguments of the program.
        log: File to which the output is appended; without room for it, the output is lost.
    """
    try:
        output: int = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError:
        output = os.open(os.devnull, os.O_WRONLY)
    try:
        subprocess.Popen(
            ["/bin/sh", "-c", _LOOP.format(again_s=AGAIN_S), "sh", sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/",
        )  # fmt: skip
    finally:
        os.close(output)


def start_at_boot(module: str, *arguments: str) -> str:
    """Have the machine run `python -m MODULE ARGUMENTS` at each start, by cron; may be repeated.

    Returns:
        The error; "" if it will run.
    """
    given = [f"{name}={os.environ[name]}" for name in KEPT if name in os.environ]
    words = [*given, sys.executable, "-m", module, *arguments]
    line = f"@reboot env {shlex.join(words)}".replace("%", "\\%")
    try:
        table = subprocess.run(
            ["crontab", "-l"], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if table.returncode and not any(one in table.stderr for one in _NO_TABLE):
            return table.stderr.strip() or "crontab failed"  # There may be a table, which must stay.
        changed = with_line(table.stdout if table.returncode == 0 else "", line, f"-m {module} ")
        done = subprocess.run(
            ["crontab", "-"], input=changed, capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return done.stderr.strip() or "crontab failed" if done.returncode else ""


def with_line(table: str, line: str, mark: str) -> str:
    """Return cron's table with a line, in place of the line that holds `mark`."""
    kept = [one for one in table.splitlines() if mark not in one]
    return "\n".join([*kept, line, ""])
