"""Pickles of objects by value, in which code keeps the name of its file.

From version 3.1.3 on, cloudpickle calls the file of pickled code "<dynamic-code>", so that equal functions
have equal pickles. A traceback of such code names no file and shows no lines.
"""

from __future__ import annotations

import io
from collections import ChainMap
from types import CodeType
from typing import IO, Any, ClassVar

import cloudpickle

_REPLACED = "<dynamic-code>"
_reduce_code = cloudpickle.Pickler.dispatch_table[CodeType]


def _reduce_with_file(code: CodeType) -> tuple[Any, tuple[Any, ...]]:
    make, values = _reduce_code(code)
    return make, tuple(code.co_filename if value == _REPLACED else value for value in values)


class ByValuePickler(cloudpickle.Pickler):  # type: ignore[misc]
    """cloudpickle's pickler; code keeps the name of its file."""

    dispatch_table: ClassVar[Any] = ChainMap(
        {CodeType: _reduce_with_file}, cloudpickle.Pickler.dispatch_table
    )


def dump(value: object, file: IO[bytes]) -> None:
    """Write a pickle of `value` to `file`, with protocol 5."""
    ByValuePickler(file, protocol=5).dump(value)


def dumps(value: object) -> bytes:
    """Return a pickle of `value`, with protocol 5."""
    with io.BytesIO() as file:
        dump(value, file)
        return file.getvalue()
