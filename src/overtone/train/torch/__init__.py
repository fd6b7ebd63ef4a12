"""Training of PyTorch models in several ranks: `TorchTrainer`, `prepare_model` and what belongs to them."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
