"""Kept for imports of `air.config`."""

from overtone.tune.demand import ScalingConfig
from overtone.tune.tune import CheckpointConfig, FailureConfig, RunConfig

__all__ = ["CheckpointConfig", "FailureConfig", "RunConfig", "ScalingConfig"]
