"""Names that scripts import from `util.sgd.torch`."""

from overtone.train.torch.operators.creator_operator import CreatorOperator
from overtone.train.torch.operators.operator_trainer import OperatorTrainer as TorchTrainer
from overtone.train.torch.operators.training_operator import TrainingOperator

__all__ = ["CreatorOperator", "TorchTrainer", "TrainingOperator"]
