"""Kept for imports of `tune.suggest.optuna`."""

from overtone.searchers.library.optuna import OptunaSearch

__all__ = ["OptunaSearch"]
