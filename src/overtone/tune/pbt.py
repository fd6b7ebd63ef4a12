"""Kept for imports of `tune.pbt`, where the first versions of the API had it."""

from overtone.schedulers.pbt import PopulationBasedTraining

__all__ = ["PopulationBasedTraining"]
