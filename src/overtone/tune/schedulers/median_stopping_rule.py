"""Kept for imports of `tune.schedulers.median_stopping_rule`."""

from overtone.schedulers.median import MedianStoppingRule

__all__ = ["MedianStoppingRule"]
