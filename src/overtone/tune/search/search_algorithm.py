"""Kept for imports of `tune.search.search_algorithm`."""

from overtone.searchers.algorithm import SearchAlgorithm

__all__ = ["SearchAlgorithm"]
