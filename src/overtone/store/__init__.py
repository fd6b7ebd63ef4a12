"""Where checkpoints and artifacts are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overtone.store.local import LocalStore

if TYPE_CHECKING:
    from overtone.core.protocols import Store

__all__ = ["LocalStore", "store_at"]


def store_at(where: str) -> Store:
    """The store at a path, or at the URL of any fsspec file system."""
    from overtone.store.files import is_url

    if not is_url(where):
        return LocalStore(where.removeprefix("file://"))
    from overtone.store.remote import RemoteStore

    return RemoteStore(where)
