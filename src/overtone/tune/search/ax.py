"""Kept for imports of `tune.search.ax`."""

from overtone.searchers.library.ax import AxSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["AxSearch"]
