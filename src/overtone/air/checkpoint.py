"""Kept for imports of `air.checkpoint`."""

from overtone.worker.checkpoints.checkpoint import Checkpoint

__all__ = ["Checkpoint"]
