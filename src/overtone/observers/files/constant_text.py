"""The constant part of all results of one attempt of a trial, as text, made once for all its files.

Most configs are one level of numbers and strings. The text of each value is then made once, and joined
by templates that configs with the same keys share.
"""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

from overtone.core.table import Row, constant_facts
from overtone.core.types import Config
from overtone.observers.files.csv_text import CELLS, row_text
from overtone.observers.files.readable_json import encode, encode_spaced
from overtone.space import describe, flatten

_NOT_JSON = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class ConstantText(NamedTuple):
    """The constant part of a trial's results.

    Attributes:
        config: The config of which this is the text.
        attempt: The attempt of which this is the text.
        names: The names of the columns.
        cells: Their cells in a CSV file, with a comma before them.
        ending: The end of a line of JSON, from the comma after the metrics on.
        params: The config as JSON for people, a parameter a line.
    """

    config: Config
    attempt: int
    names: tuple[str, ...]
    cells: str
    ending: str
    params: str


class ConstantTexts:
    """The constant text of each trial that is followed."""

    def __init__(self) -> None:
        self._found: dict[str, ConstantText] = {}

    def of(self, row: Row) -> ConstantText:
        """Return the text for a trial's next results."""
        found = self._found.get(row.id)
        if found is None or found.config is not row.config or found.attempt != row.attempt:
            found = self._found[row.id] = constant_text(row)
        return found

    def forget(self, trial_id: str) -> None:
        """Drop the text of a trial that has ended."""
        self._found.pop(trial_id, None)


def constant_text(row: Row) -> ConstantText:
    """Return the constant text of a trial's results from now on."""
    facts = constant_facts(row)
    config = row.config
    plain = _plain(config)
    if plain is None:
        flat = flatten({**facts, "config": config})
        names, cells, params = tuple(flat), _cells(flat), params_text(config)
        ending = encode({**facts, "config": config})[1:]
    else:
        values, texts = plain
        columns, compact, spaced = _templates(tuple(config))
        names, params = (*facts, *columns), spaced % values
        cells = ",".join([row_text(facts.values()), *texts])
        ending = f'{encode(facts)[1:-1]},"config":{compact % values}}}'
    return ConstantText(config, row.attempt, names, f",{cells}", f",{ending}\n", params)


def params_text(config: Config) -> str:
    """Return a config as JSON for people, a parameter a line."""
    plain = _plain(config)
    if plain is not None:
        return _templates(tuple(config))[2] % plain[0]
    # json's own indent is ten times slower
    lines = ",".join([f"\n  {encode(str(key))}: {encode_spaced(value)}" for key, value in config.items()])
    return f"{{{lines}\n}}\n"


def _plain(config: Config) -> tuple[tuple[str, ...], list[str]] | None:
    """Return each value as JSON and as a cell; None unless names are texts and values numbers or texts."""
    if not config:
        return None
    values, cells = [], []
    for name, value in config.items():
        kind = type(value)
        if type(name) is not str or kind not in CELLS:
            return None
        cell = CELLS[kind](value)
        cells.append(cell)
        if kind is float:
            values.append(cell if value - value == 0.0 else _NOT_JSON[cell])
        else:
            values.append(cell if kind is int else encode(value))
    return tuple(values), cells


@lru_cache(64)
def _templates(keys: tuple[str, ...]) -> tuple[tuple[str, ...], str, str]:
    """Return the columns of configs with these keys, and templates of their JSON: compact, and spaced."""
    quoted = [encode_basestring_ascii(key).replace("%", "%%") for key in keys]
    compact = ",".join([f"{key}:%s" for key in quoted])
    spaced = ",".join([f"\n  {key}: %s" for key in quoted])
    return tuple([f"config/{key}" for key in keys]), f"{{{compact}}}", f"{{{spaced}\n}}\n"


def _cells(flat: dict[str, Any]) -> str:
    try:
        return row_text(flat.values())
    except Exception:  # an object of a config may raise when it is written
        return row_text(one if one is None else _shown(one) for one in flat.values())


def _shown(value: Any) -> str:
    try:
        return str(value)
    except Exception:
        return describe(value)
