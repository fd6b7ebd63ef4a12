"""Kept for imports of `tune.hyperband`, where the first versions of the API had it."""

from overtone.schedulers.hyperband import HyperBandScheduler

__all__ = ["HyperBandScheduler"]
