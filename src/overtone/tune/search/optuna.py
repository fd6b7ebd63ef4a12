"""Kept for imports of `tune.search.optuna`."""

from overtone.searchers.optuna import OptunaSearch

__all__ = ["OptunaSearch"]
