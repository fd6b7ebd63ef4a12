"""Kept for imports of `tune.pbt`, where the first versions of the API had it."""

from overtone.schedulers.pbt import PopulationBasedTraining as _PopulationBasedTraining
from overtone.tune.reward import with_reward_attr

PopulationBasedTraining = with_reward_attr(_PopulationBasedTraining)

__all__ = ["PopulationBasedTraining"]
