"""Kept for imports of `tune.search.concurrency_limiter`."""

from overtone.searchers.limiter import ConcurrencyLimiter

__all__ = ["ConcurrencyLimiter"]
