"""Kept for imports of `air.config`."""

from overtone.tune.run_config import CheckpointConfig, FailureConfig, RunConfig

__all__ = ["CheckpointConfig", "FailureConfig", "RunConfig"]
