"""Kept for imports of `air.integrations.wandb`."""

from overtone.tune.logger.wandb import WandbLoggerCallback, setup_wandb

__all__ = ["WandbLoggerCallback", "setup_wandb"]
