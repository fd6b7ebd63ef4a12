"""Kept for imports of `tune.search.searcher`."""

from overtone.searchers.base import Searcher
from overtone.searchers.limiter import ConcurrencyLimiter

__all__ = ["ConcurrencyLimiter", "Searcher"]
