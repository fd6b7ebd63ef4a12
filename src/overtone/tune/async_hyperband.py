"""Kept for imports of `tune.async_hyperband`, where the first versions of the API had it."""

from overtone.schedulers.asha import ASHAScheduler as AsyncHyperBandScheduler

__all__ = ["AsyncHyperBandScheduler"]
