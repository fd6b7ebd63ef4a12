"""Reads configs by the space that a journal's header describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.errors import SpaceError
from overtone.journal.codec import Codec
from overtone.space import decode_config, space_from_data
from overtone.space.data import TUPLE


def recorded_codec(header: Mapping[str, Any]) -> Codec:
    """A codec that gives tuples back; one that leaves configs as they are where that is all to be had.

    A space with functions or classes is not all in the header: for those it takes the space itself.
    """
    parts = header.get("parts")
    data = parts.get("space") if isinstance(parts, Mapping) else None
    if not _has_tuple(data):
        return Codec()  # there is nothing to give back, and reading is faster so
    try:
        space = space_from_data(data)
    except SpaceError:
        return Codec()

    def decode(config: Any) -> Any:
        try:
            return decode_config(space, config)
        except SpaceError:  # a scheduler made it up
            return config

    return Codec(decode_config=decode)


def _has_tuple(data: Any) -> bool:
    if isinstance(data, Mapping):
        return TUPLE in data or any(map(_has_tuple, data.values()))
    return isinstance(data, list) and any(map(_has_tuple, data))
