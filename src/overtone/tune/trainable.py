"""Kept for imports of `tune.trainable`: the class API, and functions that bind values to a trainable."""

from __future__ import annotations

from typing import TypeVar

from overtone.worker.trainables.trainable import Trainable
from overtone.worker.trainables.with_parameters import with_parameters, with_resources

T = TypeVar("T")

DurableTrainable = Trainable
"""The old name of a trainable with durable checkpoints; all checkpoints are durable."""

__path__: list[str] = []  # Ray has modules below: see overtone.module_paths

__all__ = ["DurableTrainable", "Trainable", "durable", "function", "with_parameters", "with_resources"]


def durable(trainable: T) -> T:
    """Return `trainable` unchanged: every checkpoint is durable."""
    return trainable


def function(value: T) -> T:
    """Return `value` unchanged; earlier API versions marked functions in a space as plain values."""
    return value
