"""`SyncConfig`, accepted so that scripts that pass one run."""

from __future__ import annotations

from typing import Any


class SyncConfig:
    """How results would be copied to and from a cluster; on one machine nothing is.

    Args:
        upload_dir: Where results should be copied to; a warning says that they are not.
        ignored: Every other option.
    """

    def __init__(self, upload_dir: str | None = None, **ignored: Any) -> None:
        self.upload_dir = upload_dir
        self.ignored = ignored
