"""Kept for imports of `tune.search.ax`."""

from overtone.searchers.ax import AxSearch

__all__ = ["AxSearch"]
