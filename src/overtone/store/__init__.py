"""Stores for checkpoints and artifacts."""

from __future__ import annotations

from overtone.lazy import attach

_NAMES = {"overtone.store.local": "LocalStore", "overtone.store.opening": "store_at"}

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from overtone.store.local import LocalStore as LocalStore
    from overtone.store.opening import store_at as store_at

__getattr__, __dir__ = attach(__name__, _NAMES)
