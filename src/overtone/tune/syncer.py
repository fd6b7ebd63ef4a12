"""`SyncConfig` and `Syncer`, accepted for scripts that pass them."""

from __future__ import annotations

from typing import Any


class SyncConfig:
    """Sync options, accepted without effect.

    To keep results elsewhere, give its URL as `storage_path`.

    Args:
        upload_dir: Accepted with a warning: results are not copied there.
        ignored: All other options.
    """

    def __init__(self, upload_dir: str | None = None, **ignored: Any) -> None:
        self.upload_dir = upload_dir
        self.ignored = ignored


class Syncer:
    """Base class of users' own syncers, which are never called: see `SyncConfig`."""

    def __init__(self, sync_period: float = 300.0, **_: Any) -> None:
        self.sync_period = sync_period
