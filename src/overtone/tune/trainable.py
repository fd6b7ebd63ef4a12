"""Kept for imports of `tune.trainable`: the class API, and what is bound to a trainable."""

from __future__ import annotations

from typing import TypeVar

from overtone.worker.trainables.trainable import Trainable
from overtone.worker.trainables.with_parameters import with_parameters, with_resources

T = TypeVar("T")

DurableTrainable = Trainable
"""The old name of one whose checkpoints are durable: every one's are."""

__all__ = ["DurableTrainable", "Trainable", "durable", "function", "with_parameters", "with_resources"]


def durable(trainable: T) -> T:
    """`trainable` itself: every checkpoint is durable."""
    return trainable


def function(value: T) -> T:
    """`value` itself: it marked functions in a space that were meant as they are."""
    return value
