"""Kept for imports of `air.integrations.mlflow`."""

from overtone.tune.logger.mlflow import MLflowLoggerCallback, setup_mlflow

__all__ = ["MLflowLoggerCallback", "setup_mlflow"]
