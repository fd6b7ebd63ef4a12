"""Kept for imports of `tune.sync_client`: base classes of users' own clients, which are never called.

Results are kept elsewhere by giving the place's URL as `storage_path`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["NOOP", "CommandBasedClient", "SyncClient"]


class SyncClient:
    """Base class of a client that copies folders; no method of it is called in a run."""

    def sync_up(self, source: str, target: str, *_: Any, **__: Any) -> bool:
        """Return True without copying."""
        return True

    def sync_down(self, source: str, target: str, *_: Any, **__: Any) -> bool:
        """Return True without copying."""
        return True

    def delete(self, target: str) -> bool:
        """Return True without deleting."""
        return True

    def wait(self) -> None:
        """Return at once."""

    def reset(self) -> None:
        """Do nothing."""


class CommandBasedClient(SyncClient):
    """A client of commands with {source} and {target}, which are not run."""

    def __init__(self, sync_up_template: str, sync_down_template: str, *templates: str) -> None:
        self.templates = (sync_up_template, sync_down_template, *templates)


NOOP = SyncClient()
