"""Kept for imports of `tune.tune_config`."""

from overtone.tune.tune import ResumeConfig, TuneConfig

__all__ = ["ResumeConfig", "TuneConfig"]
