"""Kept for imports of `tune.schedulers.async_hyperband`; short names, too."""

from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.fifo import FIFOScheduler

AsyncHyperBandScheduler = ASHAScheduler
ASHA = ASHAScheduler
FIFO = FIFOScheduler

__all__ = ["ASHA", "FIFO", "ASHAScheduler", "AsyncHyperBandScheduler"]
