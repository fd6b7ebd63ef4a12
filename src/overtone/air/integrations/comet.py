"""Kept for imports of `air.integrations.comet`."""

from overtone.tune.logger.comet import CometLoggerCallback

__all__ = ["CometLoggerCallback"]
