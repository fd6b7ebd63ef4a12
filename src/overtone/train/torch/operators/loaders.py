"""Each worker's part of the data, and the place in an epoch, which a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, RandomSampler, Sampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

from overtone.errors import TrainableError, UsageError
from overtone.train.torch.operators import random_states

_REPLACEABLE = (SequentialSampler, RandomSampler)


class Share(Sampler[int]):
    """Each n-th index, from the worker's rank on: all are seen once, and no worker's part is filled up."""

    def __init__(self, size: int, rank: int, world_size: int) -> None:
        self._indexes = range(rank, size, world_size)

    def __iter__(self) -> Iterator[int]:
        return iter(self._indexes)

    def __len__(self) -> int:
        return len(self._indexes)


def shared_out(loader: Any, rank: int, world_size: int, is_training: bool) -> Any:
    """Return a loader of this worker's part of the data.

    For training, a `DistributedSampler` gives all workers equally many samples and repeats a few of them if
    the number of samples is not a multiple of `world_size`. For validation, no sample is repeated.
    Loaders that are not a `DataLoader`, and those of an `IterableDataset`, are returned as they are.

    Raises:
        TrainableError: The loader has a sampler of its own, which cannot be split.
    """
    if world_size == 1 or not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset):
        return loader
    if isinstance(loader.sampler, (DistributedSampler, Share)):
        return loader
    own = loader.sampler if loader.batch_size is not None else loader.batch_sampler
    if not isinstance(own, _REPLACEABLE):
        raise TrainableError(
            f"register_data: {type(own).__name__} cannot be split over {world_size} workers, only a "
            "sequential or "
            "random order can; split it in setup() by self.world_rank and give TorchTrainer "
            "add_dist_sampler=False"
        )
    sampler: Sampler[int]
    if is_training:
        is_shuffled = isinstance(loader.sampler, RandomSampler)
        sampler = DistributedSampler(loader.dataset, world_size, rank, shuffle=is_shuffled)
    else:
        sampler = Share(len(loader.dataset), rank, world_size)  # type: ignore[arg-type]
    return _copy(loader, sampler=sampler)


def with_data(loader: Any, dataset: Any) -> Any:
    """Return a loader of another dataset, with the batch size and workers of `loader`.

    Raises:
        UsageError: `dataset` is neither a dataset nor a loader.
    """
    if isinstance(dataset, DataLoader):
        return dataset
    if not isinstance(dataset, torch.utils.data.Dataset) and not hasattr(dataset, "__getitem__"):
        raise UsageError(
            f"dataset={dataset!r:.100}: must be a torch.utils.data.Dataset or a DataLoader of it"
        )
    if not isinstance(loader, DataLoader):
        raise UsageError(
            "dataset=...: the operator registered no DataLoader whose batch size would count: give a "
            "DataLoader"
        )
    if isinstance(dataset, IterableDataset):
        return _copy(loader, dataset=dataset)
    is_shuffled = isinstance(loader.sampler, RandomSampler) or getattr(loader.sampler, "shuffle", False)
    sampler = RandomSampler(dataset) if is_shuffled else SequentialSampler(dataset)
    return _copy(loader, dataset=dataset, sampler=sampler)


def _copy(loader: Any, **changes: Any) -> Any:
    has_workers = loader.num_workers > 0
    arguments = {
        "dataset": loader.dataset,
        "batch_size": loader.batch_size,
        "num_workers": loader.num_workers,
        "collate_fn": loader.collate_fn,
        "pin_memory": loader.pin_memory,
        "drop_last": loader.drop_last,
        "timeout": loader.timeout,
        "worker_init_fn": loader.worker_init_fn,
        "multiprocessing_context": loader.multiprocessing_context if has_workers else None,
        "generator": loader.generator,
        "prefetch_factor": loader.prefetch_factor if has_workers else None,
        "persistent_workers": loader.persistent_workers,
    }
    return DataLoader(**{**arguments, **changes})


class Batches:
    """The batches of a loader over epochs: `rest()` ends an epoch, `take(n)` crosses into the next.

    Attributes:
        epoch: The number of epochs begun; the sampler's epoch is one less.
        position: The number of batches taken from this epoch.
    """

    def __init__(self, loader: Iterable[Any]) -> None:
        self.loader = loader
        self.epoch = self.position = 0
        self._iterator: Iterator[Any] | None = None
        self._begun_with: dict[str, Any] = {}
        is_sized = isinstance(loader, DataLoader) and not isinstance(loader.dataset, IterableDataset)
        self._length = len(loader) if is_sized else None  # type: ignore[arg-type]

    @property
    def epoch_idx(self) -> int:
        """The index of the epoch that the next batch belongs to, from 0."""
        return self.epoch if self._iterator is None else self.epoch - 1

    def rest(self) -> Iterator[Any]:
        """Return the batches up to the end of the epoch; those of the next epoch if none is left."""
        first = list(self.take(1))
        yield from first
        while self._iterator is not None and (batch := self._next()) is not None:
            yield batch[0]

    def take(self, n: int) -> Iterator[Any]:
        """Return the next `n` batches.

        Raises:
            TrainableError: The loader has no batch.
        """
        for _ in range(n):
            if self._iterator is None or (batch := self._next()) is None:
                self._begin()
                if (batch := self._next()) is None:
                    raise TrainableError(
                        "the loader has no batch: register_data needs a dataset that is not empty, and with "
                        "drop_last=True at least a batch for each worker"
                    )
            yield batch[0]

    def end(self) -> None:
        """End the epoch, whatever is left of it."""
        self._iterator = None

    def count_epoch(self) -> None:
        """Begin and end an epoch for a loop that reads the loader itself."""
        set_epoch(self.loader, self.epoch)
        self._iterator, self.epoch = None, self.epoch + 1

    def _begin(self) -> None:
        set_epoch(self.loader, self.epoch)
        self._begun_with = self._random()
        self._iterator, self.position = iter(self.loader), 0
        self.epoch += 1

    def _next(self) -> tuple[Any] | None:
        assert self._iterator is not None
        try:
            batch = next(self._iterator)
        except StopIteration:
            self._iterator = None
            return None
        self.position += 1
        if self.position == self._length:
            self._iterator = None
        return (batch,)

    def state_dict(self) -> dict[str, Any]:
        """Return the place in the data as plain data and tensors."""
        is_inside = self._iterator is not None
        return {
            "epoch": self.epoch,
            "position": self.position if is_inside else 0,
            "begun_with": self._begun_with if is_inside else {},
            "generator": self._random()["generator"],
        }

    def load_state_dict(self, state: dict[str, Any], is_same_part: bool) -> None:
        """Continue at a saved place: the batches before it are read again and dropped.

        Args:
            is_same_part: Whether the state is this worker's own, so that its random numbers count.
        """
        self._iterator, self.epoch, self.position = None, state["epoch"], 0
        if state["position"]:
            self.epoch -= 1
            if is_same_part:
                random_states.restore(state["begun_with"])
                self._set_generator(state["begun_with"]["generator"])
            self._begin()
            for _ in range(state["position"]):
                self._next()
        if is_same_part:
            self._set_generator(state["generator"])

    def _random(self) -> dict[str, Any]:
        """Return the states of all random generators, and that of the loader's own if it has one."""
        generator = getattr(self.loader, "generator", None)
        own = None if generator is None else generator.get_state()
        return {**random_states.capture(), "generator": own}

    def _set_generator(self, state: torch.Tensor | None) -> None:
        generator = getattr(self.loader, "generator", None)
        if generator is not None and state is not None:
            generator.set_state(state.cpu())


def set_epoch(loader: Any, epoch: int) -> None:
    """Tell the loader's sampler which epoch begins, so that each has another order."""
    for part in (getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None), loader):
        if callable(setter := getattr(part, "set_epoch", None)):
            setter(epoch)
