"""What trials print, written where this process prints."""

from __future__ import annotations

import sys
from typing import Any


def write_output(trial_id: str, stream: str, text: str) -> None:
    """Write what a trial printed to this process's stdout or stderr, if it can be written to."""
    target: Any = sys.stderr if stream == "stderr" else sys.stdout
    try:
        try:
            target.write(text)
        except UnicodeEncodeError:
            target.write(text.encode(target.encoding, "backslashreplace").decode(target.encoding))
        target.flush()
    except (AttributeError, OSError, ValueError):
        pass  # there is none, or its reader has gone: trials go on all the same
