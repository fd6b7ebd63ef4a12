"""Kept for imports of `tune.callback`."""

from overtone.observers.callbacks import Callback

__all__ = ["Callback"]
