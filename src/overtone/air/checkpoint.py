"""Kept for imports of `air.checkpoint`."""

from overtone.worker.checkpoint import Checkpoint

__all__ = ["Checkpoint"]
