"""`SyncConfig` and `Syncer`, accepted for scripts that pass them."""

from __future__ import annotations

from typing import Any


class SyncConfig:
    """Sync options, accepted without effect: a trial's files are in its folder from the beginning.

    To keep results elsewhere, give its URL as `storage_path`.

    Args:
        sync_period: Kept as an attribute, as are the three that follow.
        sync_timeout: In seconds.
        sync_artifacts: Whether files of trials are copied.
        sync_artifacts_on_checkpoint: Whether they are copied with each checkpoint.
        upload_dir: Accepted with a warning: results are not copied there.
        ignored: All other options.
    """

    def __init__(
        self,
        sync_period: float = 300,
        sync_timeout: float = 1800,
        sync_artifacts: bool = False,
        sync_artifacts_on_checkpoint: bool = True,
        upload_dir: str | None = None,
        **ignored: Any,
    ) -> None:
        if isinstance(sync_period, str):  # the first argument of early versions
            sync_period, upload_dir = 300, sync_period
        self.sync_period, self.sync_timeout = sync_period, sync_timeout
        self.sync_artifacts = sync_artifacts
        self.sync_artifacts_on_checkpoint = sync_artifacts_on_checkpoint
        self.upload_dir = upload_dir
        self.ignored = ignored


class Syncer:
    """Base class of users' own syncers, which are never called: see `SyncConfig`."""

    def __init__(self, sync_period: float = 300.0, **_: Any) -> None:
        self.sync_period = sync_period
