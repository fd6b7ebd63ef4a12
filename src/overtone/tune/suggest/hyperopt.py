"""Kept for imports of `tune.suggest.hyperopt`."""

from overtone.searchers.hyperopt import HyperOptSearch

__all__ = ["HyperOptSearch"]
