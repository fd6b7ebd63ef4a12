"""Arrays with one row per trial, which grow together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Key = tuple[str, str]
"""The kind of an array, such as "last", and the hyperparameter or metric; "" for facts of each trial."""

_FEWEST = 64


class RowArrays:
    """Arrays by key, all with `n` rows.

    Attributes:
        n: The number of rows.
    """

    def __init__(self) -> None:
        self.n = 0
        self._room = 0
        self._arrays: dict[Key, NDArray[Any]] = {}
        self._fills: dict[Key, Any] = {}

    def add(self, key: Key, dtype: Any, fill: Any) -> None:
        """Add an array, or replace it.

        Args:
            dtype: Its type.
            fill: The value of all rows at first.
        """
        self._arrays[key] = np.full(self._room, fill, dtype)
        self._fills[key] = fill

    def restore(self, key: Key, dtype: Any, fill: Any, values: NDArray[Any]) -> None:
        """Add an array with the values of all rows, shape (n,). All arrays are restored.

        Raises:
            ValueError: It has another number of rows than those before.
        """
        if self._room and len(values) != self._room:
            raise ValueError(f"{key} has {len(values)} rows, and not {self._room}")
        self.n = self._room = len(values)
        self._arrays[key] = values.astype(dtype, copy=False)
        self._fills[key] = fill

    def extend(self, n: int) -> None:
        """Make room for `n` rows."""
        self.n = max(self.n, n)
        if n > self._room:
            self._room = max(_FEWEST, n + n // 2)
            for key, array in self._arrays.items():
                grown = np.full(self._room, self._fills[key], array.dtype)
                grown[: len(array)] = array
                self._arrays[key] = grown

    def renew(self) -> None:
        """Work on copies from now on, so that views that were returned keep their values."""
        self._arrays = {key: array.copy() for key, array in self._arrays.items()}

    def __getitem__(self, key: Key) -> NDArray[Any]:
        """Return an array to write to; it may have more than `n` rows, and is replaced by `extend`."""
        return self._arrays[key]

    def __contains__(self, key: Key) -> bool:
        return key in self._arrays

    def __iter__(self) -> Iterator[Key]:
        return iter(self._arrays)

    def view(self, key: Key) -> NDArray[Any]:
        """Return the rows of an array, shape (n,), read-only."""
        view = self._arrays[key][: self.n]
        view.flags.writeable = False
        return view
