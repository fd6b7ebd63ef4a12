"""Kept for imports of `tune.search.bayesopt`."""

from overtone.searchers.library.bayesopt import BayesOptSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["BayesOptSearch"]
