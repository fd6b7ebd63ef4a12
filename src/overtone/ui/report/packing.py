"""Answers as text in a page: compressed, and in base64; `js/data/packed.js` reads them.

The bytes of an array are regrouped before they are compressed: the first byte of each element, then the
second ones, and so on. Exponents of floats resemble each other, mantissas do not.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.ui.data.plain_json import plain

_LEVEL = 6
_MANTISSA_BITS = {4: 23, 8: 52}


def packed_json(value: Any) -> str:
    """Return JSON as base64 text."""
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)
    return _text(text.encode("utf-8", "replace"))


def packed_message(
    message: bytes,
    mantissa_bits: int | None = None,
    exact_rows: Sequence[int] = (),
    exact_keys: Collection[str] = (),
) -> str:
    """Return a binary message (`binary_message.py`) as base64 text.

    Args:
        mantissa_bits: Round floats that are not integers to so many bits behind the first; 10 bits are 3
            decimal digits. None keeps them.
        exact_rows: Elements of the arrays that are not rounded.
        exact_keys: Arrays that are not rounded.
    """
    (size,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + size])
    body = np.frombuffer(message, np.uint8, offset=4 + size).copy()
    for entry in header["arrays"]:
        dtype = np.dtype(f"<{entry['dtype']}")
        start, end = entry["offset"], entry["offset"] + entry["length"] * dtype.itemsize
        values = np.frombuffer(body[start:end].tobytes(), dtype)
        is_exact = entry.get("is_integer") or entry.get("key") in exact_keys
        if mantissa_bits is not None and dtype.kind == "f" and not is_exact:
            exact, values = values, rounded(values, mantissa_bits)
            values[list(exact_rows)] = exact[list(exact_rows)]
        body[start:end] = _regrouped(values)
    return _text(message[: 4 + size] + body.tobytes())


def rounded(values: NDArray[Any], mantissa_bits: int) -> NDArray[Any]:
    """Return floats rounded to so many bits of their mantissas; NaN and infinities stay."""
    dropped = _MANTISSA_BITS[values.dtype.itemsize] - mantissa_bits
    if dropped <= 0:
        copied: NDArray[Any] = values.copy()
        return copied
    kind = np.dtype(f"u{values.dtype.itemsize}")
    bits = values.view(kind)
    half, mask = kind.type(1 << (dropped - 1)), ~kind.type((1 << dropped) - 1)
    result = ((bits + half) & mask).view(values.dtype)
    kept: NDArray[Any] = np.where(np.isfinite(values) & np.isfinite(result), result, values)
    return kept


def _regrouped(values: NDArray[Any]) -> NDArray[np.uint8]:
    grouped: NDArray[np.uint8] = np.frombuffer(values.tobytes(), np.uint8)
    regrouped: NDArray[np.uint8] = grouped.reshape(-1, values.dtype.itemsize).T.ravel()
    return regrouped


def _text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, _LEVEL)).decode()
