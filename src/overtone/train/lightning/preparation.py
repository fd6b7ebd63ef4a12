"""The check of a Lightning Trainer that runs in ranks."""

from __future__ import annotations

from typing import TypeVar

from overtone.errors import ArgumentError
from overtone.train.lightning.environment import RayLightningEnvironment
from overtone.train.lightning.strategies import RayDDPStrategy, RayDeepSpeedStrategy, RayFSDPStrategy

T = TypeVar("T")


def prepare_trainer(trainer: T) -> T:
    """Return the Lightning Trainer, after a check that it uses the ranks that run.

    Raises:
        ArgumentError: Its strategy or its environment is not one of this module.
    """
    strategy = getattr(trainer, "strategy", None)
    if not isinstance(strategy, (RayDDPStrategy, RayFSDPStrategy, RayDeepSpeedStrategy)):
        raise ArgumentError(
            f"the Trainer's strategy is {type(strategy).__name__}, which would start processes of its own: "
            "use Trainer(strategy=RayDDPStrategy(), plugins=[RayLightningEnvironment()])"
        )
    environment = getattr(strategy, "cluster_environment", None)
    if environment is not None and not isinstance(environment, RayLightningEnvironment):
        raise ArgumentError(
            f"the Trainer's environment is {type(environment).__name__}: use "
            "Trainer(plugins=[RayLightningEnvironment()])"
        )
    return trainer
