"""Kept for imports of `tune.search.zoopt`."""

from overtone.searchers.zoopt import ZOOptSearch

__all__ = ["ZOOptSearch"]
