"""Transformers in the ranks of a `TorchTrainer`: a callback for its Trainer."""

from overtone.train.huggingface.transformers.preparation import prepare_trainer
from overtone.train.huggingface.transformers.report_callback import RayTrainReportCallback

__all__ = ["RayTrainReportCallback", "prepare_trainer"]
