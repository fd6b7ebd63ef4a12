"""Kept for imports of `tune.schedulers.hb_bohb`."""

from overtone.schedulers.bohb import HyperBandForBOHB

__all__ = ["HyperBandForBOHB"]
