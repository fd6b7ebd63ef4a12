"""Kept for imports of `tune.search.flaml`."""

from overtone.searchers.library.flaml import CFO, BlendSearch

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["CFO", "BlendSearch"]
