"""Kept for imports of `air.config`."""

from overtone.tune.tune import CheckpointConfig, FailureConfig, RunConfig
from overtone.worker.trainables.demand import ScalingConfig

__all__ = ["CheckpointConfig", "FailureConfig", "RunConfig", "ScalingConfig"]
