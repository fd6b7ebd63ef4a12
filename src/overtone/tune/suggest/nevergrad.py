"""Kept for imports of `tune.suggest.nevergrad`."""

from overtone.searchers.nevergrad import NevergradSearch

__all__ = ["NevergradSearch"]
