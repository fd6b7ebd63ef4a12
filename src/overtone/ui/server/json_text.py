"""Answers as JSON text."""

from __future__ import annotations

import json
from typing import Any


def dumps(answer: Any) -> bytes:
    """Return an answer as JSON on one line, without NaN and infinities: browsers refuse them."""
    try:
        text = json.dumps(answer, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        from overtone.ui.data.plain_json import plain

        text = json.dumps(plain(answer), allow_nan=False, separators=(",", ":"))
    return text.encode("ascii")
