"""Kept for imports of `tune.callback`."""

from overtone.observers.callbacks.callback import Callback

__all__ = ["Callback"]
