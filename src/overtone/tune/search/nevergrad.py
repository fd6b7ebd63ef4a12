"""Kept for imports of `tune.search.nevergrad`."""

from overtone.searchers.nevergrad import NevergradSearch

__all__ = ["NevergradSearch"]
