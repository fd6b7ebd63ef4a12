"""JSON text of plain data, without spaces, at the speed of C."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def encoder(default: Callable[[Any], Any] | None = None, allow_nan: bool = False) -> Callable[[Any], str]:
    """A function from data to JSON text; made once, since `json.dumps` makes one a call.

    Args:
        default: What stands for a value that JSON does not know; by default that is a TypeError.
        allow_nan: Whether NaN and the infinities become NaN and Infinity; else they are a ValueError.
    """
    plain = json.JSONEncoder(allow_nan=allow_nan, separators=(",", ":"), default=default)
    try:
        made = vars(json.encoder)["c_make_encoder"](
            None, plain.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, allow_nan
        )
    except (KeyError, TypeError):  # a Python without its C accelerator, or with another one
        return plain.encode
    join = "".join
    return lambda value: join(made(value, 0))
