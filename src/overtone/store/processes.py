"""Check whether a process with a recorded number still runs."""

from __future__ import annotations

import os


def is_alive(pid: int) -> bool:
    """Return whether a process with this number runs on this machine, of any user."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, as another user
        return True
    return True
