"""A script that runs in a rank, in place of the rank's own code."""

from __future__ import annotations

import json
import os
import runpy
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from overtone import standard_streams
from overtone.errors import TrainableError, TrialHalted
from overtone.tune.session import get_context

DESCRIPTOR = "OVERTONE_RESULTS_FD"
"""The variable with the number of the descriptor that takes results."""

_END = b"\0end\n"


@dataclass(frozen=True)
class Script:
    """A script with its first arguments.

    Attributes:
        name: The path, or a module's name.
        args: Arguments before those of a config.
        is_module: Whether `name` is a module.
    """

    name: str
    args: tuple[str, ...] = ()
    is_module: bool = False

    def __call__(self, config: Mapping[str, Any]) -> None:
        """Run the script as the program of this process.

        Raises:
            TrainableError: It exited with another status than 0.
        """
        sys.argv = [self.name, *self.args, *arguments(config)]
        with results_descriptor():
            try:
                if self.is_module:
                    runpy.run_module(self.name, run_name="__main__", alter_sys=True)
                else:
                    sys.path.insert(0, os.path.dirname(self.name))
                    runpy.run_path(self.name, run_name="__main__")
            except SystemExit as end:
                status = end.code
                if isinstance(status, str):
                    standard_streams.say(status)
                    status = 1
                if status:
                    raise TrainableError(f"{self.name} exited with status {status}") from None


def arguments(config: Mapping[str, Any], prefix: str = "--") -> list[str]:
    """Return a config as arguments of a command: {"lr": 0.1} is ["--lr", "0.1"].

    Names of nested values are joined by dots; True is the name alone; None and False are left out.
    """
    found: list[str] = []
    for key, value in config.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found += arguments(value, f"{name}.")
        elif value is True:
            found.append(name)
        elif isinstance(value, (list, tuple)):
            found += [name, *map(str, value)]
        elif value is not None and value is not False:
            text = str(value)
            # argparse takes some negative numbers for options
            found += [f"{name}={text}"] if text.startswith("-") else [name, text]
    return found


@contextmanager
def results_descriptor() -> Iterator[None]:
    """Open the descriptor that takes results for the block; what other ranks than 0 write is ignored."""
    session = get_context()
    if session.get_world_rank() != 0:
        target = os.open(os.devnull, os.O_WRONLY)
        os.environ[DESCRIPTOR] = str(target)
        try:
            yield
        finally:
            os.close(target)
        return
    source, target = os.pipe()
    os.set_inheritable(target, True)
    os.environ[DESCRIPTOR] = str(target)
    reader = threading.Thread(target=_hand_on, args=(source, session), daemon=True)
    reader.start()
    try:
        yield
    finally:
        os.write(target, _END)  # a process that the script left may hold the descriptor open
        os.close(target)
        reader.join()


def _hand_on(source: int, session: Any) -> None:
    """Tell the head each result that the script has written, until the end."""
    with open(source, "rb") as lines:
        for line in lines:
            if line.endswith(_END):
                return
            try:
                result = json.loads(line)
                if not isinstance(result, dict):
                    raise ValueError("not an object")
                session.tell(result)
            except TrialHalted:
                return
            except ValueError as error:
                standard_streams.say(f"a line in {DESCRIPTOR} is not a result ({error}): {line[:100]!r}")
