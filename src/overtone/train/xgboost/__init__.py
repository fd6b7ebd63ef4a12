"""XGBoost over several ranks: `XGBoostTrainer`, and the callback that reports each round."""

from overtone.lazy import attach

__getattr__, __dir__ = attach(__name__)
