"""Kept for imports of `air.integrations.keras`."""

from overtone.tune.integration.keras import ReportCheckpointCallback

__all__ = ["ReportCheckpointCallback"]
