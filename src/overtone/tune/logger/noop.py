"""Kept for imports of `tune.logger.noop`."""

from overtone.tune.logger.logger import NoopLogger

__all__ = ["NoopLogger"]
