"""How large one record may be: in the journal, and on its way there."""

from __future__ import annotations

from typing import Final

MAX_RECORD_BYTES: Final = 64 << 20
"""The largest line of a journal, and the largest message of a trial; more is a fault of who wrote it."""
