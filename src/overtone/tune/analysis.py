"""Kept for imports of `tune.analysis`; `Analysis` is the old name."""

from overtone.analysis import ExperimentAnalysis

Analysis = ExperimentAnalysis

__all__ = ["Analysis", "ExperimentAnalysis"]
