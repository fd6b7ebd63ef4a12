"""Kept for imports of `tune.search.hyperopt`."""

from overtone.searchers.hyperopt import HyperOptSearch

__all__ = ["HyperOptSearch"]
