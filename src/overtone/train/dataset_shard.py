"""Rows of a dataset, in the forms that data has in Python, and how they are split among ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class DatasetShard:
    """Rows of a dataset: those of one worker.

    Attributes:
        data: The rows in the form of the trainer's dataset: a pandas DataFrame, an array, a mapping of
            equally long columns, a sequence of rows, or a map-style dataset of PyTorch.
    """

    def __init__(self, data: Any) -> None:
        self.data = data

    def __len__(self) -> int:
        return _length(self.data)

    def __iter__(self) -> Iterator[Any]:
        return self.iter_rows()

    def count(self) -> int:
        """Return the number of rows."""
        return len(self)

    def materialize(self) -> DatasetShard:
        """Return this shard, whose rows are in memory already."""
        return self

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        import pandas as pd

        return self.data if isinstance(self.data, pd.DataFrame) else pd.DataFrame(self.data)

    def iter_rows(self) -> Iterator[Any]:
        """Yield each row: a dict of its columns, or an element of a sequence."""
        columns = _columns(self.data)
        for index in range(len(self)):
            if columns is None:
                yield self.data[index]
            else:
                yield {name: column[index] for name, column in columns.items()}

    def iter_batches(
        self,
        *,
        batch_size: int | None = 256,
        batch_format: str = "numpy",
        drop_last: bool = False,
        **ignored: Any,
    ) -> Iterator[Any]:
        """Yield batches of rows in their order.

        Args:
            batch_size: Rows per batch; None for one batch.
            batch_format: "numpy" or "default" for a dict of arrays, "pandas" for a DataFrame.
            drop_last: Whether to leave out a last batch with fewer rows.
            ignored: Accepted without effect, such as `prefetch_batches`: the rows are in memory.

        Raises:
            ValueError: `batch_format` is unknown.
        """
        if batch_format not in ("numpy", "default", "pandas"):
            raise ValueError(f'batch_format={batch_format!r}: must be "numpy", "default" or "pandas"')
        size = batch_size or max(len(self), 1)
        for start in range(0, len(self), size):
            batch = DatasetShard(_rows(self.data, slice(start, start + size)))
            if not (drop_last and len(batch) < size):
                yield batch.to_pandas() if batch_format == "pandas" else batch._arrays()

    def iter_torch_batches(
        self,
        *,
        batch_size: int | None = 256,
        dtypes: Any = None,
        device: Any = None,
        drop_last: bool = False,
        **ignored: Any,
    ) -> Iterator[Any]:
        """Yield batches as tensors: a dict by column, or one tensor of an array's rows.

        Args:
            dtypes: A `torch.dtype` for all columns, or one by column.
            device: Where the tensors are; None for the CPU.
        """
        import torch

        def tensor(name: str, array: Any) -> Any:
            dtype = dtypes.get(name) if isinstance(dtypes, Mapping) else dtypes
            return torch.as_tensor(array, dtype=dtype, device=device)

        for batch in self.iter_batches(batch_size=batch_size, drop_last=drop_last):
            if isinstance(batch, dict):
                yield {name: tensor(name, array) for name, array in batch.items()}
            else:
                yield tensor("", batch)

    def _arrays(self) -> Any:
        import numpy as np

        columns = _columns(self.data)
        if columns is None:
            return np.asarray(self.data)
        return {str(name): np.asarray(column) for name, column in columns.items()}


def normalized(datasets: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a trainer's datasets, each in memory: one with `to_pandas()`, such as Ray's, as a frame.

    Raises:
        TypeError: A dataset has no rows that can be counted and chosen.
    """
    whole = {}
    for name, dataset in (datasets or {}).items():
        data = dataset.to_pandas() if hasattr(dataset, "to_pandas") else dataset
        if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
            raise TypeError(
                f"datasets[{name!r}] is {type(dataset).__name__}: give a pandas DataFrame, an array, a "
                "mapping of columns, a sequence of rows, a map-style dataset of PyTorch, or an object with "
                "to_pandas()"
            )
        if isinstance(data, Mapping) and len({len(column) for column in data.values()}) > 1:
            raise TypeError(f"datasets[{name!r}] has columns of different lengths")
        whole[name] = data
    return whole


def split(dataset: Any, rank: int, world_size: int) -> Any:
    """Return the rows of one rank: row `rank`, and every `world_size`-th after it.

    Each rank gets the same number of rows, since ranks that take part in a different number of steps would
    wait for each other for ever: the rows after the last multiple of `world_size` are left out.
    """
    even = _length(dataset) // world_size * world_size
    return _rows(dataset, slice(rank, even, world_size))


def _length(data: Any) -> int:
    if isinstance(data, Mapping):
        return len(next(iter(data.values()), ()))
    return len(data)


def _rows(data: Any, rows: slice) -> Any:
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if isinstance(data, Mapping):
        return {name: column[rows] for name, column in data.items()}
    if hasattr(data, "shape") or isinstance(data, (list, tuple, range)):
        return data[rows]
    return _Chosen(data, range(*rows.indices(len(data))))


def _columns(data: Any) -> dict[Any, Any] | None:
    """Return the columns by name; None for rows without named columns."""
    if hasattr(data, "iloc"):
        return {name: data[name].to_numpy() for name in data.columns}
    if isinstance(data, Mapping):
        return dict(data)
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        return {name: [row[name] for row in data] for name in data[0]}
    return None


class _Chosen(Sequence[Any]):
    """Some rows of a map-style dataset, without reading them."""

    def __init__(self, dataset: Any, rows: range) -> None:
        self._dataset, self._rows = dataset, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _Chosen(self._dataset, self._rows[index])
        return self._dataset[self._rows[index]]
