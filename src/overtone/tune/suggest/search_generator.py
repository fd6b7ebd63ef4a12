"""Kept for imports of `tune.suggest.search_generator`."""

from overtone.searchers.algorithm import SearchGenerator

__all__ = ["SearchGenerator"]
