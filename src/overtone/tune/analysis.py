"""Kept for imports of `tune.analysis`; `Analysis` is the old name."""

from overtone.analysis import ExperimentAnalysis

Analysis = ExperimentAnalysis

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["Analysis", "ExperimentAnalysis"]
