"""Sweep files: YAML, JSON or TOML, with the keys of W&B's sweep configuration."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.errors import ArgumentError, MissingPackageError
from overtone.lazy import nearest

KEYS = frozenset(
    {
        "program", "method", "metric", "parameters", "command", "early_terminate", "run_cap", "name",
        "description", "overtone",
    }
)  # fmt: skip
"""The keys that are used; `overtone` has arguments of `tune.run` and `tune.command`."""

IGNORED = frozenset(
    {"$schema", "entity", "project", "controller", "settings", "job", "image_uri", "queue", "launch", "tags"}
)
"""Keys of W&B that concern its servers."""


def read(path: Path) -> dict[str, Any]:
    """Return the contents of a sweep file.

    Raises:
        ArgumentError: The file is missing or invalid; the message names the key.
        MissingPackageError: It is YAML, and PyYAML is missing.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ArgumentError(f"the sweep file {os.fspath(path)!r} cannot be read: {reason}") from None
    sweep = _parsed(path, text)
    if not isinstance(sweep, Mapping):
        raise ArgumentError(
            f"{path}: must be a mapping, such as parameters: {{lr: {{min: 0.001, max: 0.1}}}}"
        )
    for key in sweep:
        if key not in KEYS | IGNORED:
            near = nearest(str(key), KEYS) or f": choose one of {', '.join(sorted(KEYS))}"
            raise ArgumentError(f"{path}: {key!r} is not a key of a sweep{near}")
    return dict(sweep)


def as_number(value: Any) -> float:
    """Return a number; YAML 1.1 reads 1e-5 as a text.

    Raises:
        ValueError: It is not a finite number.
    """
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{value!r} must be a number, such as 0.1")
    return found


def number(key: str, value: Any) -> float:
    """Return the number at a key.

    Raises:
        ArgumentError: It is not a finite number; the message names the key.
    """
    try:
        return as_number(value)
    except ValueError as error:
        raise ArgumentError(f"{key}: {error}") from None


def whole_number(key: str, value: Any, least: int) -> int:
    """Return the whole number at a key.

    Raises:
        ArgumentError: It is not a whole number, or below `least`; the message names the key.
    """
    try:
        found = number(key, value)
    except ArgumentError:
        found = math.nan
    if not found >= least or found != int(found):
        raise ArgumentError(f"{key}: {value!r} must be a whole number of {least} or more")
    return int(found)


def _parsed(path: Path, text: str) -> Any:
    suffix = path.suffix.lower()
    try:
        if suffix == ".json":
            return json.loads(text)
        if suffix == ".toml":
            return _toml(text)
    except ValueError as error:
        raise ArgumentError(f"{path}: is not {suffix[1:].upper()}: {error}") from None
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise MissingPackageError("PyYAML", "sweep", f"the sweep file {path.name} is YAML, which") from None
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ArgumentError(f"{path}: is not YAML: {error}") from None
    _check_nesting(path, found, ())
    return found


def _check_nesting(path: Path, value: Any, above: tuple[int, ...]) -> None:
    """Check that no mapping or list contains itself, as an alias of YAML may.

    Raises:
        ArgumentError: There is one.
    """
    if not isinstance(value, (Mapping, list)):
        return
    if id(value) in above:
        raise ArgumentError(f"{path}: an alias refers to a value that contains it: write the value out")
    for one in value.values() if isinstance(value, Mapping) else value:
        _check_nesting(path, one, (*above, id(value)))


def _toml(text: str) -> Any:
    if sys.version_info >= (3, 11):
        import tomllib

        return tomllib.loads(text)
    raise ArgumentError("a sweep file in TOML needs Python 3.11: write it in YAML or JSON")
