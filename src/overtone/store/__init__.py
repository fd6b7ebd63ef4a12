"""Where checkpoints and artifacts are kept."""

from __future__ import annotations

from overtone.store.local import LocalStore

__all__ = ["LocalStore"]
