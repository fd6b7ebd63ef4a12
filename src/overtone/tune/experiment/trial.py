"""Kept for imports of `tune.experiment.trial`."""

from overtone.tune.trial import Trial

__all__ = ["Trial"]
