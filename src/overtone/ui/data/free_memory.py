"""Memory that the C library keeps after a long reading."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def return_free_memory() -> None:
    """Give memory that nothing uses any more back to the system, where the C library is glibc."""
    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
