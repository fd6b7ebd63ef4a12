"""Kept for imports of `tune.median_stopping_rule`, where the first versions of the API had it."""

from overtone.schedulers.median import MedianStoppingRule

__all__ = ["MedianStoppingRule"]
