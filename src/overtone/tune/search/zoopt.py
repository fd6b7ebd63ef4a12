"""Kept for imports of `tune.search.zoopt`."""

from overtone.searchers.library.zoopt import ZOOptSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["ZOOptSearch"]
