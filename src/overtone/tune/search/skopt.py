"""Kept for imports of `tune.search.skopt`."""

from overtone.searchers.library.skopt import SkOptSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["SkOptSearch"]
