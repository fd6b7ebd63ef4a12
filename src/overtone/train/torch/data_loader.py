"""Data loaders in several ranks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils.data import (
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
)

from overtone.errors import ArgumentError
from overtone.train.torch.devices import get_device
from overtone.train.torch.world import world_rank, world_size


def prepare_data_loader(
    data_loader: DataLoader[Any],
    add_dist_sampler: bool = True,
    move_to_device: bool = True,
    auto_transfer: bool = True,
) -> DataLoader[Any]:
    """Return the loader for training in several ranks: each rank gets its part of the data.

    Each rank's batches have the loader's `batch_size`. If the samples cannot be divided evenly, the first
    ones are repeated, so that all ranks have as many batches; with `drop_last=True` the rest is left out
    instead. A shuffled loader has another order in each epoch also if `loader.sampler.set_epoch` is not
    called; call it with the epoch after a restore, to go on with that epoch's order.

    Args:
        data_loader: The loader of all data. An IterableDataset is left as it is: it divides itself.
        add_dist_sampler: Whether to give each rank its part.
        move_to_device: Whether batches are moved to the rank's GPU.
        auto_transfer: Whether the next batch is moved while the last one is in use.

    Raises:
        ArgumentError: The loader has a batch sampler of its own, which cannot be divided.
    """
    if (
        add_dist_sampler
        and world_size() > 1
        and not isinstance(data_loader.dataset, IterableDataset)
        and not isinstance(data_loader.sampler, DistributedSampler)
    ):
        data_loader = _divided(data_loader)
    device = get_device()
    if move_to_device and device.type != "cpu":
        return MovedLoader(data_loader, device, auto_transfer)
    return data_loader


class EpochSampler(DistributedSampler[Any]):
    """A DistributedSampler that counts epochs by itself where `set_epoch` is not called."""

    _is_set = True

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration; those after it count on."""
        super().set_epoch(epoch)
        self._is_set = True

    def __iter__(self) -> Iterator[Any]:
        if not self._is_set:
            self.epoch += 1
        self._is_set = False
        return super().__iter__()


def _divided(loader: DataLoader[Any]) -> DataLoader[Any]:
    """Return the loader with a sampler that gives each rank its part."""
    if loader.batch_size is None and loader.batch_sampler is not None:
        raise ArgumentError(
            f"prepare_data_loader: the loader has a batch sampler of its own "
            f"({type(loader.batch_sampler).__name__}): give the ranks their parts in it, and set "
            "add_dist_sampler=False"
        )
    sampler = loader.sampler
    if not isinstance(sampler, (SequentialSampler, RandomSampler)) and world_rank() == 0:
        warnings.warn(
            f"prepare_data_loader: {type(sampler).__name__} is replaced, so that each rank gets its part of "
            "the data, shuffled; set add_dist_sampler=False to keep it",
            stacklevel=3,
        )
    generator = loader.generator
    parts = EpochSampler(
        loader.dataset,
        shuffle=not isinstance(sampler, SequentialSampler),
        seed=0 if generator is None else generator.initial_seed() % 2**31,
        drop_last=loader.drop_last,
    )
    options: dict[str, Any] = {
        name: getattr(loader, name)
        for name in (
            "batch_size", "num_workers", "collate_fn", "pin_memory", "drop_last", "timeout", "worker_init_fn",
            "multiprocessing_context", "generator", "prefetch_factor", "persistent_workers",
        )
    }  # fmt: skip
    return DataLoader(loader.dataset, sampler=parts, **options)


class MovedLoader(DataLoader[Any]):
    """A loader whose batches are on a GPU; all else is the inner loader's.

    Args:
        loader: The loader.
        device: Where to.
        is_ahead: Whether the next batch is moved, on a stream of its own, while the last one is in use.
    """

    _loader: DataLoader[Any]
    _device: torch.device
    _is_ahead: bool

    def __init__(self, loader: DataLoader[Any], device: torch.device, is_ahead: bool) -> None:
        self.__dict__.update(vars(loader))
        self.__dict__.update(_loader=loader, _device=device, _is_ahead=is_ahead)

    def __len__(self) -> int:
        return len(self._loader)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if not self._is_ahead:
            return (moved(batch, self._device) for batch in self._loader)
        return self._ahead()

    def _ahead(self) -> Iterator[Any]:
        side: Any = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        waiting: list[Any] = []
        for batch in self._loader:
            with torch.cuda.stream(side):
                waiting.append(moved(batch, self._device))
            if len(waiting) > 1:
                yield self._taken(waiting.pop(0), side)
        for batch in waiting:
            yield self._taken(batch, side)

    def _taken(self, batch: Any, side: Any) -> Any:
        """Return a batch that the current stream may use: it waits for the move."""
        stream = torch.cuda.current_stream(self._device)
        stream.wait_stream(side)
        _record(batch, stream)
        return batch


def moved(batch: Any, device: torch.device) -> Any:
    """Return `batch` with all its tensors on `device`; mappings, lists and tuples are gone through."""
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=True) if isinstance(batch, torch.Tensor) else batch.to(device)
    if isinstance(batch, Mapping):
        return {name: moved(one, device) for name, one in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(moved(one, device) for one in batch))
    if isinstance(batch, (list, tuple)):
        return type(batch)(moved(one, device) for one in batch)
    return batch


def _record(batch: Any, stream: Any) -> None:
    """Note that `stream` uses the tensors, so that their memory is not used again before."""
    if isinstance(batch, torch.Tensor):
        batch.record_stream(stream)
    elif isinstance(batch, Mapping):
        for one in batch.values():
            _record(one, stream)
    elif isinstance(batch, (list, tuple)):
        for one in batch:
            _record(one, stream)
