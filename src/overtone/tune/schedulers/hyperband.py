"""Kept for imports of `tune.schedulers.hyperband`; the short name, too."""

from overtone.schedulers.hyperband import HyperBandScheduler

HyperBand = HyperBandScheduler

__all__ = ["HyperBand", "HyperBandScheduler"]
