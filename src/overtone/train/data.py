"""Data for training workers, which Overtone does not start: kept for scripts that name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overtone.errors import TrainableError


class DataConfig:
    """Options for splitting datasets among workers, accepted without effect: see `get_dataset_shard`.

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


def get_dataset_shard(dataset_name: str | None = None) -> Any:
    """Refuse: a trial is no training worker, and has no shard.

    Raises:
        TrainableError: Always; the message says how a trial gets its data.
    """
    raise TrainableError(
        f"get_dataset_shard({dataset_name!r}): a trial has the whole data. Bind it as an argument, "
        "tune.with_parameters(train, data=data), and split it in the function"
    )
