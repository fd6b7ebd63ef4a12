"""Kept for imports of `tune.suggest.optuna`."""

from overtone.searchers.optuna import OptunaSearch

__all__ = ["OptunaSearch"]
