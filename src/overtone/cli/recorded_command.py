"""The command that an experiment was run with, made ready to be run again."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import join, quote
from typing import Any

from overtone.cli.exit_codes import NotFoundError

Execute = Callable[[str, Sequence[str], Mapping[str, str]], Any]

_KERNELS = ("ipykernel", "colab_kernel_launcher", "ipython", "jupyter")


@dataclass(frozen=True, slots=True)
class Rerun:
    """A command to run.

    Attributes:
        command: The program and its arguments.
        directory: The working directory.
        hostname: The machine on which the recorded command ran.
        notes: Differences from the recorded run.
    """

    command: tuple[str, ...]
    directory: str
    hostname: str
    notes: tuple[str, ...] = ()


def again(facts: dict[str, Any], path: str, given: Sequence[str] = ()) -> Rerun:
    """Return the command that runs an experiment again.

    Args:
        facts: The result of `newest_driver`.
        path: The experiment, for messages.
        given: A command to run instead of the recorded command.

    Raises:
        NotFoundError: The recorded command cannot be run again; the message tells what to do.
    """
    directory, hostname = str(facts.get("directory", "")), str(facts.get("hostname", ""))
    if given:
        return Rerun(tuple(given), os.getcwd(), hostname)
    recorded = facts.get("command")
    if (
        not isinstance(recorded, list)
        or len(recorded) < 2
        or not all(isinstance(one, str) for one in recorded)
    ):
        raise NotFoundError(f"no command is on record that could be run again; {_advice(path)}")
    options, program = options_and_program(recorded[1:])
    _check_repeatable(program, path)
    if not os.path.isdir(directory):
        raise NotFoundError(f"it ran in {directory!r}, which is not there; {_advice(path)}")
    script = os.path.join(directory, program[0])
    if program[0] != "-m" and not os.path.isfile(script):
        raise NotFoundError(f"its script {script!r} is not there; {_advice(path)}")
    python, notes = recorded[0], []
    if not os.access(os.path.join(directory, python), os.X_OK):
        notes.append(f"{python} is not there: taking {sys.executable}")
        python = sys.executable
    command = (python, *options, *_program(program[0]), *program[1:])
    return Rerun(command, directory, hostname, tuple(notes))


def check_owner(journal: Path, rerun: Rerun) -> None:
    """Run nothing that somebody else wrote down, unless the user says so.

    Raises:
        NotFoundError: The journal is another user's, or names no Python to run.
    """
    name = os.path.basename(rerun.command[0]).lower()
    shown = f"the recorded command is: cd {quote(rerun.directory)} && {join(rerun.command)}"
    if hasattr(os, "getuid") and journal.stat().st_uid != os.getuid():
        raise NotFoundError(f"{journal} belongs to another user, and {shown}; add --yes to run it")
    if rerun.command[0] != sys.executable and not name.startswith(("python", "pypy")):
        raise NotFoundError(f"{rerun.command[0]!r} is not a Python, and {shown}; add --yes to run it")


def become(rerun: Rerun, environment: Mapping[str, str], execute: Execute | None = None) -> None:
    """Replace this process by a command.

    Args:
        environment: Variables for it, in addition to this process's.
        execute: Does that: takes a program, its arguments and its environment, as `os.execvpe`.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os.chdir(rerun.directory)
    (execute or os.execvpe)(rerun.command[0], list(rerun.command), {**os.environ, **environment})


def options_and_program(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split Python's arguments into its options, and the script or `-m MODULE` with what follows."""
    i = 0
    while i < len(arguments) - 1 and len(arguments[i]) > 1 and arguments[i][0] == "-":
        if arguments[i] in ("-m", "-c"):
            break
        i += 2 if arguments[i] in ("-W", "-X") and i < len(arguments) - 2 else 1
    return arguments[:i], arguments[i:]


def _check_repeatable(program: Sequence[str], path: str) -> None:
    first = program[0]
    name = os.path.basename(first).lower()
    if any(kernel in first.lower() for kernel in _KERNELS[:2]) or name.startswith(_KERNELS[2:]):
        raise NotFoundError(f"it was run in a notebook or in IPython: {_advice(path, 'there')}")
    if first == "-c":
        raise NotFoundError(f"it was run with `python -c`, and its code is not on record; {_advice(path)}")
    if first in ("", "-"):
        what = "typed into Python" if first == "" else "read from standard input (`python -`)"
        raise NotFoundError(f"its script was {what}, and is not on record; {_advice(path)}")


def _advice(path: str, where: str = "in your script") -> str:
    name = os.path.basename(path.rstrip("/"))
    return (
        f'call Tuner.restore("{path}", trainable) {where}, or tune.run(..., name="{name}", resume=True); '
        f"or name the command: overtone resume {path} -- python my_script.py"
    )


def _program(script: str) -> tuple[str, ...]:
    """Return Python's arguments for the script; a module runs as `python -m package.module`.

    A module is recognised by its absolute path in a package. Its relative imports need `-m`.
    """
    path = Path(script)
    if not path.is_absolute() or not (path.parent / "__init__.py").is_file():
        return (script,)
    names = [] if path.stem == "__main__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return ("-m", ".".join(names))
