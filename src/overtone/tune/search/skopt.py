"""Kept for imports of `tune.search.skopt`."""

from overtone.searchers.skopt import SkOptSearch

__all__ = ["SkOptSearch"]
