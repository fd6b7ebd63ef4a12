"""Whether the process that left its number in a file is still there."""

from __future__ import annotations

import os


def is_alive(pid: int) -> bool:
    """Return whether there is a process of this number on this machine, of whichever user."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # not ours, but there
        return True
    return True
