"""Kept for imports of `tune.suggest.skopt`."""

from overtone.searchers.skopt import SkOptSearch

__all__ = ["SkOptSearch"]
