"""Kept for imports of `tune.median_stopping_rule`, where the first versions of the API had it."""

from overtone.schedulers.median import MedianStoppingRule as _MedianStoppingRule
from overtone.tune.reward import with_reward_attr

MedianStoppingRule = with_reward_attr(_MedianStoppingRule)

__all__ = ["MedianStoppingRule"]
