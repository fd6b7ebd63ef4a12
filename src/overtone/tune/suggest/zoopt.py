"""Kept for imports of `tune.suggest.zoopt`."""

from overtone.searchers.library.zoopt import ZOOptSearch

__all__ = ["ZOOptSearch"]
