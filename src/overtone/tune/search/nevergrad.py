"""Kept for imports of `tune.search.nevergrad`."""

from overtone.searchers.library.nevergrad import NevergradSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["NevergradSearch"]
