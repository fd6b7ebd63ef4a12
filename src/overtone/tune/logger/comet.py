"""Kept for imports of `tune.logger.comet`."""

from overtone.air.integrations.comet import CometLoggerCallback

__all__ = ["CometLoggerCallback"]
