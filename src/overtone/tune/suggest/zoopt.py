"""Kept for imports of `tune.suggest.zoopt`."""

from overtone.searchers.zoopt import ZOOptSearch

__all__ = ["ZOOptSearch"]
