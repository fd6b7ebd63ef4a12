"""The first record of a journal: a description of the experiment, as data."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overtone.core.resources import Resources
from overtone.errors import StorageError
from overtone.journal.formats import FORMAT
from overtone.journal.text import loads
from overtone.regular_files import read_regular, replace_file
from overtone.space.domain import Domain
from overtone.version import __version__

DRIVER = "driver.json"
"""File next to a reproducible journal, with those facts of the header that differ between runs."""

PART_FOLDERS = ("schedulers", "searchers", "stoppers")
"""Folders of the package with classes that a journal may name, and a restore may create."""

_DEEPEST = 10
_DATA = (str, bool, int, float, type(None))
_PARTS = {
    "name": str, "main": str, "engine": str, "metric": list, "mode": list, "constraints": dict,
    "checkpoints": dict, "options": dict, "limits": dict,
}  # fmt: skip
_TYPES = {
    "format": int, "wall": (int, float), "command": list, "directory": str, "pid": int, "hostname": str,
    "overtone": str, "earlier": list, "called": str, "nth": int, "parts": dict,
    "code": dict, "rerun_of": dict,
}  # fmt: skip


def new_header(seed: int, parts: Mapping[str, Any], command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return the header of a new experiment.

    Args:
        seed: The seed of all its randomness.
        parts: The space, scheduler, searcher, stoppers and options, each through
            `described` (or as the space encodes itself).
        command: The command line; by default that of this process.
    """
    return {**driver_facts(command), "seed": seed, "parts": dict(parts)}


def driver_facts(command: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a driver's facts, noted at the start and each resume; `wall` is seconds since 1970.

    `format` is the format of the driver's records.
    """
    import platform

    return {
        "format": FORMAT,
        "wall": time.time(),
        "command": list(command) if command is not None else [sys.executable, *sys.orig_argv[1:]],
        "directory": _start_directory(),
        "pid": os.getpid(),
        "hostname": platform.node(),
        "overtone": __version__,
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
    }


def _start_directory() -> str:
    """Return the directory in which a relative path of a script began; else the current one."""
    main = str(getattr(sys.modules.get("__main__"), "__file__", None) or "")
    for argument in sys.orig_argv[1:]:
        if main.endswith(f"{os.sep}{argument}") and not os.path.isabs(argument):
            return main.removesuffix(f"{os.sep}{argument}") or os.sep
    return os.getcwd()


def described(part: Any, arguments: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """Return a scheduler, searcher, stopper or option as data: its import path and its arguments.

    Args:
        arguments: The arguments of its constructor. By default each parameter of the constructor
            is looked up as an attribute, with or without a leading underscore, and omitted if not
            found.
    """
    if isinstance(part, _DATA):
        return part
    if depth >= _DEEPEST:
        return {"__repr__": repr(part)[:500]}
    if isinstance(part, Mapping):
        return {str(name): described(one, None, depth + 1) for name, one in part.items()}
    if isinstance(part, (list, tuple)):
        return [described(one, None, depth + 1) for one in part]
    if isinstance(part, Domain):
        from overtone.space import space_to_data

        return space_to_data({"": part})[""]
    if callable(part) and hasattr(part, "__qualname__"):
        return {"path": part_path(part)}
    kind = Resources if isinstance(part, Resources) else type(part)  # also a placement group is one
    given = arguments if arguments is not None else _arguments(part)
    return {
        "path": part_path(kind),
        "arguments": {name: described(one, None, depth + 1) for name, one in given.items()},
    }


def part_path(kind: Any) -> str:
    """Return the import path of a class or function, as journals have it.

    The path of a class of Overtone has no sub-folder, so that a class may move into another one:
    "overtone.searchers.optuna.OptunaSearch" is in `searchers/library`.
    """
    package, *folders = str(kind.__module__).split(".")  # a function that `exec` made has none
    if package == "overtone" and len(folders) > 2 and folders[0] in PART_FOLDERS:
        return f"{package}.{folders[0]}.{folders[-1]}.{kind.__qualname__}"
    return f"{kind.__module__}.{kind.__qualname__}"


def _arguments(part: Any) -> dict[str, Any]:
    import inspect

    made_with = getattr(part, "arguments", None)
    try:
        signature = inspect.signature(type(part))
        names = list(signature.parameters)
        if isinstance(made_with, tuple) and any(made_with):
            args, kwargs = made_with
            return dict(signature.bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return {}
    found: dict[str, Any] = {}
    for name in names:
        for attribute in (name, f"_{name}"):
            if hasattr(part, attribute):
                found[name] = getattr(part, attribute)
                break
    return found


def set_apart(header: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the reproducible part of `header`, and write the rest to `DRIVER` in `folder`.

    Raises:
        StorageError: The file cannot be written.
    """
    import json

    facts = driver_facts()
    apart = {
        name: header[name]
        for name in (*facts, "nth", "called", "code", "rerun_of")
        if name in header and name not in ("format", "overtone")
    }
    parts = {**header["parts"]}
    apart["main"] = parts.pop("main", "")
    try:
        replace_file(folder / DRIVER, (json.dumps(apart) + "\n").encode())
    except OSError as error:
        raise StorageError(f"{folder / DRIVER} cannot be written: {error.strerror}") from error
    return {**{name: one for name, one in header.items() if name not in apart}, "parts": parts}


def put_together(header: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a header with the facts that `set_apart` removed, if their file exists."""
    if "wall" in header:
        return header
    try:
        apart = loads(read_regular(folder / DRIVER).decode())
        main = apart.pop("main")
        return {**apart, **header, "parts": {"main": main, **header["parts"]}}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):  # a copy of the journal alone
        return header


def checked_header(path: Path, body: bytes) -> dict[str, Any]:
    """Return the header in the first line of `path`.

    Raises:
        StorageError: It is not a header, has a newer format, or a field has a wrong type.
    """
    try:
        header: Any = loads(body.decode() + "}")
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("e") != "header":
        raise StorageError(f"{path} begins with {body[:60]!r}: it is not a journal of Overtone")
    _check_types(path, header, _TYPES)
    _check_types(path, header.get("parts", {}), _PARTS)
    if header.get("format", math.inf) > FORMAT:
        raise StorageError(
            f"{path} was written by Overtone {header.get('overtone')} in format {header.get('format')}; this "
            f"version, {__version__}, reads up to format {FORMAT}: pip install -U overtone"
        )
    return header


def _check_types(path: Path, facts: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    for name, kind in types.items():
        if name in facts and (not isinstance(facts[name], kind) or isinstance(facts[name], bool)):
            raise StorageError(
                f"{path}, line 1: {name!r} is {facts[name]!r:.100}, which Overtone does not write. "
                f"Restore the file from a copy, or choose another experiment"
            )
