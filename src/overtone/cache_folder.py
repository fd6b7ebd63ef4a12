"""The user's cache folder: what lies there can be deleted at any time."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return `overtone` in `$XDG_CACHE_HOME`, or in `~/.cache` if that is not set or is not absolute.

    Raises:
        FileNotFoundError: Neither is set, and the user has no home.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # the standard has relative paths ignored
        base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        raise FileNotFoundError("the user has no home, and XDG_CACHE_HOME is not set to an absolute path")
    return Path(base, "overtone")
