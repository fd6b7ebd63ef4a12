"""Kept for imports of `tune.suggest.skopt`."""

from overtone.searchers.library.skopt import SkOptSearch

__all__ = ["SkOptSearch"]
