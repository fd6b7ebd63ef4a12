"""Kept for imports of `tune.suggest.bohb`."""

from overtone.searchers.library.bohb import TuneBOHB

__all__ = ["TuneBOHB"]
