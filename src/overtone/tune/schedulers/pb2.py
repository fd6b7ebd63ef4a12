"""Kept for imports of `tune.schedulers.pb2`."""

from overtone.schedulers.pb2 import PB2

__all__ = ["PB2"]
