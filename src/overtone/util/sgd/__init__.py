"""Names that scripts import from `util.sgd`: training written as an operator."""

from overtone.train.torch.operators.operator_trainer import OperatorTrainer as TorchTrainer

__all__ = ["TorchTrainer"]
