"""Where checkpoints and artifacts are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.core.protocols import Store
    from overtone.store.local import LocalStore

__all__ = ["LocalStore", "store_at"]


def store_at(where: str) -> Store:
    """The store at a path, or at the URL of any fsspec file system."""
    from overtone.store.files import is_url

    if not is_url(where):
        from overtone.store.local import LocalStore

        return LocalStore(where.removeprefix("file://"))
    from overtone.store.remote import RemoteStore

    return RemoteStore(where)


def __getattr__(name: str) -> Any:
    """Import `LocalStore` when it is asked for: `overtone ls` needs this package's names of URLs alone."""
    if name != "LocalStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from overtone.store.local import LocalStore

    return LocalStore
