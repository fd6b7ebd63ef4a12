"""Kept for imports of `tune.logger.mlflow`."""

from overtone.air.integrations.mlflow import MLflowLoggerCallback

__all__ = ["MLflowLoggerCallback"]
