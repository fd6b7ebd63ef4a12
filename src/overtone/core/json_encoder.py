"""JSON text of plain data, at the speed of C."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def encoder(
    default: Callable[[Any], Any] | None = None,
    allow_nan: bool = False,
    is_spaced: bool = False,
    sort_keys: bool = False,
) -> Callable[[Any], str]:
    """Return a function from data to JSON text; create it once, since `json.dumps` makes one per call.

    Args:
        default: Returns a substitute for a value that JSON cannot encode; TypeError by default.
        allow_nan: Whether NaN and the infinities become NaN and Infinity; a ValueError if False.
        is_spaced: Whether a space follows each comma and each colon.
        sort_keys: Whether the names in each object are sorted.
    """
    item, key = (", ", ": ") if is_spaced else (",", ":")
    plain = json.JSONEncoder(
        allow_nan=allow_nan, separators=(item, key), default=default, sort_keys=sort_keys
    )
    try:
        made = vars(json.encoder)["c_make_encoder"](
            None, plain.default, json.encoder.encode_basestring_ascii, None, key, item, sort_keys, False,
            allow_nan,
        )  # fmt: skip
    except (KeyError, TypeError):  # No C accelerator, or another version of it.
        return plain.encode
    join = "".join
    return lambda value: join(made(value, 0))
