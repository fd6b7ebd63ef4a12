"""Kept for imports of `tune.utils.callback`."""

from overtone.tune.logger.choice import DEFAULT_CALLBACK_CLASSES

__all__ = ["DEFAULT_CALLBACK_CLASSES"]
