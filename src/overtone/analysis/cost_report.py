"""The cost report of a simulated search, from the end of its journal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from overtone.regular_files import open_regular

_TAIL_BYTES = 1 << 16


def recorded_account(journal: Path) -> dict[str, float] | None:
    """Return the engine's final `account`; None if the engine has none or the search did not end."""
    with open_regular(journal) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL_BYTES))
        last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
    try:
        end: Any = json.loads(last)
    except ValueError:
        return None
    account = end.get("account") if isinstance(end, dict) and end.get("e") == "end" else None
    return account if isinstance(account, dict) else None
