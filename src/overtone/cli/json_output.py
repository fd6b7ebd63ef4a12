"""Output of `--json`: standard JSON for any reader."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any


def write_json(document: Any) -> None:
    """Write `document` to standard output, indented, and a newline."""
    sys.stdout.write(json.dumps(as_plain(document), indent=2) + "\n")


def line_of(document: Any) -> str:
    """Return `document` as JSON in one line."""
    return json.dumps(as_plain(document), separators=(", ", ": "))


def as_plain(value: Any) -> Any:
    """Return `value` as JSON knows it: NaN and the infinities are the texts "nan", "inf" and "-inf"."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else f"{value}"
    if isinstance(value, Mapping):
        return {str(name): as_plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(one) for one in value]
    return str(value)


def at_home(text: str | None) -> str:
    """Return a `moment` in this machine's time zone, without seconds; "" for None."""
    if text is None:
        return ""
    return datetime.fromisoformat(f"{text[:-1]}+00:00").astimezone().strftime("%Y-%m-%d %H:%M")
