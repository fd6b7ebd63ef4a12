"""Kept for imports of `tune.trainable`: the class API, and what is bound to a trainable."""

from __future__ import annotations

from typing import TypeVar

from overtone.worker.bound import with_parameters, with_resources
from overtone.worker.trainable import Trainable

T = TypeVar("T")

__all__ = ["Trainable", "durable", "with_parameters", "with_resources"]


def durable(trainable: T) -> T:
    """`trainable` itself: every checkpoint is durable."""
    return trainable
