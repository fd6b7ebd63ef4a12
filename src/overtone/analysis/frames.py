"""Results as pandas frames; pandas is imported when the first one is asked for."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from itertools import chain, islice
from typing import Any

from overtone.core.goal import is_number
from overtone.core.utf8 import encodable
from overtone.errors import MissingPackageError
from overtone.journal.garbage import not_collecting
from overtone.space import flatten as without_nesting

_MOST_ROWS = 1024  # that are taken together: what fits in a cache takes less time


def flatten(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return `result` without nesting, as `overtone.space.flatten`, with text that any table can hold.

    Half of a surrogate pair is escaped.
    """
    flat = without_nesting(result)
    for name in [name for name, value in flat.items() if type(value) is str and not value.isascii()]:
        flat[name] = encodable(flat[name])
    return flat if all(map(str.isascii, flat)) else {encodable(key): flat[key] for key in flat}


def frame(rows: Iterable[Mapping[str, Any]], index: str | None = None) -> Any:
    """Return a DataFrame with a row for each flat mapping, and every key that occurs as a column.

    Args:
        rows: Flat mappings; a key that one lacks is NaN there.
        index: The key that becomes the index.

    Raises:
        MissingPackageError: pandas is not installed.
    """
    columns: dict[str, list[Any]] = {}
    n, left = 0, iter(rows)
    with not_collecting():
        while block := list(islice(left, _MOST_ROWS)):
            for name in dict.fromkeys(chain.from_iterable(block)):
                if name not in columns:
                    columns[name] = [None] * n
            for name, cells in columns.items():
                cells += [row.get(name) for row in block]
            n += len(block)
    if index is not None and index not in columns:
        columns = {index: [None] * n, **columns}
    made = frame_of(columns)
    return made if index is None else made.set_index(index)


def frame_of(columns: Mapping[str, Any]) -> Any:
    """Return a DataFrame with these columns.

    Raises:
        MissingPackageError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingPackageError("pandas", "pandas", "a frame of results") from None
    return pd.DataFrame(columns, columns=list(columns))


def has_number(frame: Any, column: str) -> bool:
    """Return whether a column of a DataFrame is there, and has a number."""
    return column in frame.columns and any(map(is_number, frame[column].dropna()))


class ByTrial(dict[str, Any]):
    """Values by trial id. A trial's folder is also accepted as a key.

    Args:
        values: The values by trial id.
        ids: The trial id of each folder.
    """

    def __init__(self, values: Mapping[str, Any], ids: Mapping[str, str]) -> None:
        super().__init__(values)
        self._ids = ids

    def __missing__(self, key: str) -> Any:
        if key in self._ids:
            return self[self._ids[key]]
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._ids

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a trial id or a folder."""
        try:
            return self[key]
        except KeyError:
            return default


class TrialFrames(ByTrial):
    """Each trial's frame of all its results, by trial id; made when it is first looked at.

    Args:
        ids: The trial id of each folder.
        make: Returns the frame of a trial id.
    """

    def __init__(self, ids: Mapping[str, str], make: Callable[[str], Any]) -> None:
        super().__init__(dict.fromkeys(ids.values(), _NOT_MADE), ids)
        self._make = make

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if value is _NOT_MADE:
            trial_id = self._ids.get(key, key)
            value = self[trial_id] = self._make(trial_id)
        return value

    def __iter__(self) -> Iterator[str]:  # so that dict() of it asks for each frame
        return iter(self.keys())

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """Return the frames."""
        return ValuesView(self)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """Return the trial ids and their frames."""
        return ItemsView(self)

    def __repr__(self) -> str:
        return f"TrialFrames({len(self)} trials)"


_NOT_MADE = object()
