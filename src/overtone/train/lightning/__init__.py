"""Lightning in the ranks of a `TorchTrainer`: strategies, an environment and a callback."""

from overtone.train.lightning.environment import RayLightningEnvironment
from overtone.train.lightning.preparation import prepare_trainer
from overtone.train.lightning.report_callback import RayTrainReportCallback
from overtone.train.lightning.strategies import RayDDPStrategy, RayDeepSpeedStrategy, RayFSDPStrategy

__all__ = [
    "RayDDPStrategy",
    "RayDeepSpeedStrategy",
    "RayFSDPStrategy",
    "RayLightningEnvironment",
    "RayTrainReportCallback",
    "prepare_trainer",
]
