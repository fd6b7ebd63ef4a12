"""Kept for imports of `tune.search.search_generator`."""

from overtone.searchers.algorithm import SearchGenerator

__all__ = ["SearchGenerator"]
