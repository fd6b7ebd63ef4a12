"""Kept for imports of `tune.search.optuna`."""

from overtone.searchers.library.optuna import OptunaSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["OptunaSearch"]
