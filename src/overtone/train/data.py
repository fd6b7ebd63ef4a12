"""Datasets of a trainer, and the shard of them that each rank gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overtone.errors import TrainableError
from overtone.train.dataset_shard import DatasetShard, split
from overtone.worker.session.current import current, is_inside

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang

_kept: tuple[Any, dict[str, Any]] | None = None
"""A rank's session, and the shards of that rank."""


class DataConfig:
    """Options for splitting datasets among workers.

    Args:
        datasets_to_split: "all", or the names of the datasets to split; each worker gets the others whole.
        execution_options: Accepted without effect: they are about Ray Data.
        enable_shard_locality: The same.

    Raises:
        TypeError: `datasets_to_split` is neither "all" nor a list of names.
    """

    def __init__(
        self,
        datasets_to_split: str | Sequence[str] = "all",
        execution_options: Any = None,
        enable_shard_locality: bool = True,
    ) -> None:
        if datasets_to_split != "all" and not isinstance(datasets_to_split, (list, tuple)):
            raise TypeError(f'datasets_to_split={datasets_to_split!r} must be "all" or a list of names')
        self.datasets_to_split = datasets_to_split
        self.execution_options = execution_options
        self.enable_shard_locality = enable_shard_locality

    def is_split(self, name: str) -> bool:
        """Return whether each worker gets a part of the dataset."""
        return self.datasets_to_split == "all" or name in self.datasets_to_split


def send_shards(gang: Gang, datasets: Mapping[str, Any], data_config: DataConfig | None) -> None:
    """Give each rank its shards, which `get_dataset_shard` returns there."""
    config, world_size = data_config or DataConfig(), gang.num_workers
    for rank in range(world_size if datasets else 0):
        shards = {
            name: split(dataset, rank, world_size) if config.is_split(name) else dataset
            for name, dataset in datasets.items()
        }
        gang.call_rank(rank, keep_shards, shards)


def keep_shards(shards: dict[str, Any]) -> None:
    """Keep the shards of this rank; the head has each rank call it."""
    global _kept
    _kept = (current(), shards)


def get_dataset_shard(dataset_name: str | None = None) -> Any:
    """Return this worker's `DatasetShard` of the trainer's `datasets[dataset_name]`.

    Args:
        dataset_name: The name; None if the trainer has one dataset.

    Raises:
        TrainableError: There is no such dataset, or this process is not a trainer's worker.
    """
    if _kept is None or not is_inside() or current() is not _kept[0]:
        raise TrainableError(
            f"get_dataset_shard({dataset_name!r}): no trainer with datasets= runs here. A trial has the "
            "whole data: bind it as an argument, tune.with_parameters(train, data=data), and split it in the "
            "function"
        )
    shards = _kept[1]
    if dataset_name is None and len(shards) == 1:
        (dataset_name,) = shards
    if dataset_name not in shards:
        raise TrainableError(
            f"get_dataset_shard({dataset_name!r}): the trainer's datasets are {', '.join(map(repr, shards))}"
        )
    return DatasetShard(shards[dataset_name])
