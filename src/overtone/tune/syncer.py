"""`SyncConfig` and `Syncer`, accepted so that scripts that pass one run."""

from __future__ import annotations

from typing import Any


class SyncConfig:
    """How results would be copied to and from a cluster; on one machine nothing is.

    To keep results elsewhere, give its URL as `storage_path`.

    Args:
        upload_dir: Where results should be copied to; a warning says that they are not.
        ignored: Every other option.
    """

    def __init__(self, upload_dir: str | None = None, **ignored: Any) -> None:
        self.upload_dir = upload_dir
        self.ignored = ignored


class Syncer:
    """The class that users' own syncers derive from; nobody calls them: see `SyncConfig`."""

    def __init__(self, sync_period: float = 300.0, **_: Any) -> None:
        self.sync_period = sync_period
