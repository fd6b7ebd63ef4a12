"""Configs as a journal has them, where the space that they came from is not at hand."""

from __future__ import annotations

from typing import Any

from overtone.space.data import TUPLE


def with_tuples(data: Any) -> Any:
    """Return `data` with its tuples; descriptions of values that are not data (classes) are kept."""
    if type(data) is dict:
        if TUPLE in data:
            return tuple(map(with_tuples, data[TUPLE]))
        return {key: with_tuples(item) for key, item in data.items()}
    return list(map(with_tuples, data)) if type(data) is list else data
