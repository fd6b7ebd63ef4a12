"""Where scripts for Ray Tune import `WandbLoggerCallback`, which this version lacks."""

from overtone.tune.logger.trackers import missing

raise missing("wandb", "WandbLoggerCallback", "wandb")
