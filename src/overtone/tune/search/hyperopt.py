"""Kept for imports of `tune.search.hyperopt`."""

from overtone.searchers.library.hyperopt import HyperOptSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["HyperOptSearch"]
