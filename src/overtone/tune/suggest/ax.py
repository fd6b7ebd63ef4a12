"""Kept for imports of `tune.suggest.ax`."""

from overtone.searchers.ax import AxSearch

__all__ = ["AxSearch"]
