"""Kept for imports of `tune.async_hyperband`, where the first versions of the API had it."""

from overtone.schedulers.asha import ASHAScheduler as _ASHAScheduler
from overtone.tune.reward import with_reward_attr

AsyncHyperBandScheduler = with_reward_attr(_ASHAScheduler)

__all__ = ["AsyncHyperBandScheduler"]
