"""Kept for imports of `tune.search.searcher`."""

from overtone.core.protocols import Searcher
from overtone.searchers.limiter import ConcurrencyLimiter

__all__ = ["ConcurrencyLimiter", "Searcher"]
