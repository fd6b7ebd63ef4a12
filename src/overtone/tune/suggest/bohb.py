"""Kept for imports of `tune.suggest.bohb`."""

from overtone.searchers.bohb import TuneBOHB

__all__ = ["TuneBOHB"]
