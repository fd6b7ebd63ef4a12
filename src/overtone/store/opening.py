"""Opens the store at a path or a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overtone.core.store import Store


def store_at(where: str) -> Store:
    """Return the store at a path, or at the URL of any fsspec file system."""
    from overtone.store.files import is_url

    if not is_url(where):
        from overtone.store.local import LocalStore

        return LocalStore(where.removeprefix("file://"))
    from overtone.store.remote import RemoteStore

    return RemoteStore(where)
