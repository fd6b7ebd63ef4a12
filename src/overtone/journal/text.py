"""Data as JSON text in one line; what JSON does not have is tagged (see `tagged_json`)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any

from overtone.core.json_encoder import encoder
from overtone.errors import StorageError
from overtone.tagged_json import MARK, tagged, untagged

LONGEST_REPR = 500


def dumps(value: Any) -> str:
    """Return `value` as compact JSON; objects that are not data become {"__repr__": their repr, cut}."""
    try:
        return _encode(value)
    except (ValueError, TypeError):  # NaN, or a key that is not a string: rare, so converted only now
        return _encode(_plain(value))


def loads(text: str) -> Any:
    """Return the value in JSON text that `dumps` wrote, without leading blanks.

    Raises:
        ValueError: The text is not JSON, or nested too deeply.
    """
    try:
        return (_tagged if MARK in text else _untagged)(text)[0]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def find_field(text: str, field: str) -> int:
    """Return the index of the comma before `field` in the text of an object, which may be incomplete.

    Each value before the field is parsed once. The first field is not searched for.

    Raises:
        ValueError: The object has no such field, or is not JSON before it.
    """
    try:
        comma = 0
        while text[comma + 1 : comma + 2] == '"':
            name, at = _untagged(text, comma + 1)
            if name == field and comma:
                return comma
            comma = _untagged(text, at + 1)[1]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    raise ValueError(f"it has no {field!r}")


# raw_decode instead of decode, which would search for blanks at both ends
_untagged = json.JSONDecoder().raw_decode
_tagged = json.JSONDecoder(object_hook=untagged).raw_decode


@lru_cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    from dataclasses import fields

    return tuple((one.name, one.default) for one in fields(kind) if one.init)


def as_data(value: Any) -> Any:
    """Return the JSON form of a value that JSON does not support."""
    from dataclasses import MISSING, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        return {
            name: item
            for name, default in _fields(type(value))
            if (item := getattr(value, name)) is not default and (default is MISSING or item != default)
        }
    if isinstance(value, Mapping):
        return dict(value)
    if (found := tagged(value)) is not None:
        return found
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    try:
        if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a scalar of NumPy or torch
            return value.item()
    except Exception:  # a tensor without a value: its repr is used
        pass
    try:
        return {"__repr__": repr(value)[:LONGEST_REPR]}
    except Exception as error:  # a repr may do anything
        return {"__repr__": f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"}


_encode = encoder(as_data)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else tagged(float(value))
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return _plain(as_data(value))


@lru_cache
def _mark(key: str) -> bytes:
    """Return the text before a value of `key`; inside a string the quotes would have backslashes."""
    return f"{encode_basestring_ascii(key)}:".encode()


_SCALAR = re.compile(
    rb"(?:(-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))|(-?\d{1,640})|(?:true|false|null))(?=[,}])"
)
"""A value read without a parser; Python reads integers of 640 digits under any limit."""

_FLOAT, _INT = 1, 2
_CONSTANTS = {b"true": True, b"false": False, b"null": None}


class LazyMetrics(Mapping[str, Any]):
    """Metrics that are decoded when they are first read."""

    __slots__ = ("_data", "_key", "_text", "_value")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._data: dict[str, Any] | None = None
        self._key: str | None = None  # the last key that was found without decoding
        self._value: Any = None

    def _decoded(self) -> dict[str, Any]:
        if self._data is None:
            try:
                self._data = dict(loads(self._text.decode()))
            except (ValueError, TypeError) as error:
                start = self._text[:60]
                raise StorageError(f"a result that begins with {start!r} is not data: {error}") from error
            self._text = b""
        return self._data

    def __getitem__(self, key: str) -> Any:
        return self._decoded()[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value at `key`; a number or constant in flat text is read without decoding the rest."""
        if key == self._key:
            return self._value
        text = self._text
        if self._data is None and text.find(b"{", 1) < 0:
            mark = _mark(key)
            at = text.find(mark)
            if at < 0:
                return default
            found = _SCALAR.match(text, at + len(mark))
            if found is not None:
                kind, value = found.lastindex, found[0]
                self._value = (
                    float(value) if kind == _FLOAT else int(value) if kind == _INT else _CONSTANTS[value]
                )
                self._key = key
                return self._value
        return self._decoded().get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded())

    def __len__(self) -> int:
        return len(self._decoded())

    def __repr__(self) -> str:
        return repr(self._decoded())
