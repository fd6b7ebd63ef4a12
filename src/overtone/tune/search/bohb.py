"""Kept for imports of `tune.search.bohb`."""

from overtone.searchers.bohb import TuneBOHB

__all__ = ["TuneBOHB"]
