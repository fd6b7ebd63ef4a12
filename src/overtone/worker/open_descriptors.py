"""The open descriptors of this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

_LISTED = "/proc/self/fd"


def open_descriptors() -> Iterator[tuple[int, str]]:
    """Yield each open descriptor with its target, a path or "socket:[4711]"; nothing without /proc."""
    with suppress(OSError):
        for descriptor in os.listdir(_LISTED):
            with suppress(OSError):  # closed meanwhile, as that of the listing itself
                target = os.readlink(f"{_LISTED}/{descriptor}")
                yield int(descriptor), target
