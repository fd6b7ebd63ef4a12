"""The preparation of a Transformers Trainer that runs in ranks."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def prepare_trainer(trainer: T) -> T:
    """Return the Transformers Trainer as it is: it knows its rank from the environment.

    Its datasets may be shards of `train.get_dataset_shard(name).materialize()`; of other datasets it gives
    each rank its part by itself.
    """
    return trainer
