"""Kept for imports of `tune.logger.wandb`."""

from overtone.air.integrations.wandb import WandbLoggerCallback

__all__ = ["WandbLoggerCallback"]
