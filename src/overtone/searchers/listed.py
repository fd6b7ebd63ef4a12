"""Exactly the configurations that the user lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from overtone.core.types import Config
from overtone.errors import SpaceError
from overtone.searchers.base import Searcher
from overtone.searchers.samples import ENDLESS, checked_samples
from overtone.space import Domain, nested

_COLUMN = "config/"


def is_listing(space: Any) -> bool:
    """Return whether `space` lists configurations: a list, a tuple, an iterator or a frame of them."""
    return isinstance(space, (list, tuple, Iterator)) or _is_frame(space)


class Listed(Searcher):
    """Searcher that suggests the configurations in a list, a generator or a frame, in their order.

    Each row of a frame is one trial. In a frame of results, with columns such as "config/lr", only these
    columns are used; "a/b" in a column's name makes nested dicts. A generator is
    read when trials are needed, and may be infinite.

    Args:
        configs: Dicts of plain values, without domains.
        num_samples: Number of repetitions of a list or a frame; -1 for no limit. A generator is
            read once.

    Attributes:
        total: The number of trials; None for a generator and for no limit.

    Raises:
        SpaceError: `configs` is not a listing, it is empty, or an entry is not a plain configuration.
    """

    lookahead, counts_samples = 200, True

    def __init__(self, configs: Any, *, num_samples: int | None = None) -> None:
        if not is_listing(configs):
            raise SpaceError(f"{configs!r} must be a list, a generator or a frame of configurations")
        self.num_samples = None if num_samples is None else checked_samples(num_samples)
        self._source: Iterator[Any] | None = None
        self._configs: list[Config] = []
        if _is_frame(configs):
            self._configs = _rows(configs)
        elif isinstance(configs, Iterator):
            self._source = configs
        else:
            self._configs = [_checked(config, i) for i, config in enumerate(configs)]
        if not self._configs and self._source is None:
            raise SpaceError(
                f"the {type(configs).__name__} of configurations is empty: it needs at least one"
            )

    def on_start(self, space: Any, seed: int) -> None:
        samples = checked_samples(1 if self.num_samples is None else self.num_samples)
        if self._source is None:
            self.total = self.total_for(samples)
        elif samples not in (1, ENDLESS):
            raise SpaceError(f"num_samples={samples}: a generator can be gone through only once; use a list")

    def total_for(self, num_samples: int) -> int | None:
        is_endless = num_samples == ENDLESS or self._source is not None
        return None if is_endless else num_samples * len(self._configs)

    def suggest(self, index: int) -> Config | None:
        if self._source is None:
            return dict(self._configs[index % len(self._configs)])
        while len(self._configs) <= index:
            try:
                config = next(self._source)
            except StopIteration:
                return None
            self._configs.append(_checked(config, len(self._configs)))
        return dict(self._configs[index])


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and (hasattr(value, "to_dict") or hasattr(value, "to_dicts"))


def _rows(frame: Any) -> list[Config]:
    rows = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    names = [str(name) for name in frame.columns]
    if any(name.startswith(_COLUMN) for name in names):
        rows = [
            {str(k)[len(_COLUMN) :]: v for k, v in row.items() if str(k).startswith(_COLUMN)} for row in rows
        ]
    plain = [{str(k): v.item() if hasattr(v, "item") else v for k, v in row.items()} for row in rows]
    return [_checked(nested(row), i) for i, row in enumerate(plain)]


def _checked(config: Any, index: int) -> Config:
    if not isinstance(config, Mapping):
        raise SpaceError(f'configuration {index} is {config!r}; it must be a dict, such as {{"lr": 0.01}}')
    found = _search(config, "")
    if found:
        raise SpaceError(
            f"configuration {index}: {found}, but a list of configurations holds plain values; "
            "to search, give one dict with domains"
        )
    return dict(config)


def _search(value: Any, path: str) -> str:
    if isinstance(value, Domain) or (isinstance(value, Mapping) and value.keys() == {"grid_search"}):
        return f"{path.lstrip('/')} is {value!r}"
    if isinstance(value, (Mapping, list, tuple)):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        return next(filter(None, (_search(item, f"{path}/{key}") for key, item in items)), "")
    return ""
