"""Kept for imports of `tune.experiment_analysis`."""

from overtone.analysis import ExperimentAnalysis
from overtone.tune.analysis import Analysis

__all__ = ["Analysis", "ExperimentAnalysis"]
