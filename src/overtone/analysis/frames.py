"""Results as pandas frames; pandas is imported when the first one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from overtone.core.utf8 import encodable
from overtone.errors import MissingPackageError
from overtone.space import flatten as without_nesting


def flatten(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return `result` without nesting, as `overtone.space.flatten`, with text that any table can hold.

    Half of a surrogate pair is escaped.
    """
    flat = without_nesting(result)
    for name, value in flat.items():
        if type(value) is str:
            flat[name] = encodable(value)
    return flat if all(map(str.isascii, flat)) else {encodable(key): flat[key] for key in flat}


def frame(rows: Iterable[Mapping[str, Any]], index: str | None = None) -> Any:
    """Return a DataFrame with a row for each flat mapping, and every key that occurs as a column.

    Args:
        rows: Flat mappings; a key that one lacks is NaN there.
        index: The key that becomes the index.

    Raises:
        MissingPackageError: pandas is not installed.
    """
    listed = list(rows)
    columns = list(dict.fromkeys(key for row in listed for key in row))
    if index is not None and index not in columns:
        columns.insert(0, index)
    made = frame_of({name: [row.get(name) for row in listed] for name in columns})
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


class TrialFrames(Mapping[str, Any]):
    """Each trial's frame of all its results, by folder; made when it is first looked at.

    A trial id is taken as a key, too.

    Args:
        ids: Each folder's trial id.
        make: The frame of a trial id.
    """

    def __init__(self, ids: Mapping[str, str], make: Callable[[str], Any]) -> None:
        self._ids = dict(ids)
        self._known = frozenset(self._ids.values())
        self._make = make
        self._made: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        trial_id = self._ids.get(key, key)
        if trial_id not in self._made:
            if trial_id not in self._known:
                raise KeyError(key)
            self._made[trial_id] = self._make(trial_id)
        return self._made[trial_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return f"TrialFrames({len(self)} trials, by folder)"
