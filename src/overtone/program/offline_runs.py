"""Metrics of `wandb.log` in the file that W&B's client writes on this machine, online or offline.

The file `run-<id>.wandb` has a header of 7 bytes, then blocks of 32 KiB with fragments of records: a
checksum (4 bytes), a length (2) and a kind (1). A record is a protocol buffer of the client.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overtone.program.protocol_buffers import fields

PATTERN = "**/run-*.wandb"
_BLOCK, _START = 1 << 15, 7
_HEADER = struct.Struct("<IHB")
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_HISTORY = 2
_ITEM, _KEY, _NESTED_KEY, _VALUE = 1, 1, 2, 16


class OfflineRuns:
    """The run files below a folder.

    Args:
        folder: The folder, which may appear later.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[Path, _RunFile] = {}

    def look(self, is_last: bool = False) -> list[dict[str, Any]]:
        """Return the metrics of each new step."""
        found = []
        for path in sorted(self._folder.glob(PATTERN)):
            file = self._files.setdefault(path, _RunFile(path))
            found += [metrics for record in file.records() if (metrics := _logged(record))]
        return found


class _RunFile:
    """A run file, read up to its last whole record."""

    def __init__(self, path: Path) -> None:
        self._path, self._place, self._parts = path, _START, b""

    def records(self) -> Iterator[bytes]:
        """Yield the records that are new."""
        with open(self._path, "rb") as file:
            file.seek(self._place)
            data = file.read()
        at = 0
        while True:
            left = _BLOCK - (self._place + at) % _BLOCK
            if left < _HEADER.size:  # the end of a block is filled
                if at + left > len(data):
                    break
                at += left
                continue
            if at + _HEADER.size > len(data):
                break
            _, length, kind = _HEADER.unpack_from(data, at)
            end = at + _HEADER.size + length
            if end > len(data) or kind not in (_FULL, _FIRST, _MIDDLE, _LAST):
                break
            part = data[at + _HEADER.size : end]
            self._parts = part if kind in (_FULL, _FIRST) else self._parts + part
            at = end
            if kind in (_FULL, _LAST):
                yield self._parts
                self._parts = b""
        self._place += at


def _logged(record: bytes) -> dict[str, Any]:
    """Return the values of a history record; {} for other records."""
    values: dict[str, Any] = {}
    for field, history in fields(record):
        if field != _HISTORY or not isinstance(history, bytes):
            continue
        for kind, item in fields(history):
            if kind == _ITEM and isinstance(item, bytes):
                name, text = _item(item)
                if name and name != "_timestamp" and name != "_runtime":
                    values["step" if name == "_step" else name] = _value(text)
    return values if values.keys() - {"step"} else {}


def _item(item: bytes) -> tuple[str, str]:
    key, nested, text = "", [], ""
    for field, part in fields(item):
        if isinstance(part, bytes):
            shown = part.decode("utf-8", "replace")
            if field == _KEY:
                key = shown
            elif field == _NESTED_KEY:
                nested.append(shown)
            elif field == _VALUE:
                text = shown
    return key or "/".join(nested), text


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    named = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
    return named.get(value, value) if isinstance(value, str) else value
