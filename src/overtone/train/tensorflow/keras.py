"""The callback of Keras in the ranks of a `TensorflowTrainer`, under the name of the 2.x API."""

from overtone.tune.integration.keras import ReportCheckpointCallback

__all__ = ["ReportCheckpointCallback"]
