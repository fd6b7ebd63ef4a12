"""Kept for imports of `tune.search.bohb`."""

from overtone.searchers.library.bohb import TuneBOHB

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["TuneBOHB"]
