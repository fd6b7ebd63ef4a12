"""Kept for imports of `tune.hyperband`, where the first versions of the API had it."""

from overtone.schedulers.hyperband import HyperBandScheduler as _HyperBandScheduler
from overtone.tune.reward import with_reward_attr

HyperBandScheduler = with_reward_attr(_HyperBandScheduler)

__all__ = ["HyperBandScheduler"]
