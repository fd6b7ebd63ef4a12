"""Kept for imports of `tune.schedulers.pbt`."""

from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.schedulers.pbt_replay import PopulationBasedTrainingReplay

__all__ = ["PopulationBasedTraining", "PopulationBasedTrainingReplay"]
