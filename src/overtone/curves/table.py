"""A table of learning curves: configurations x iterations, of several metrics and of the time they took."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from random import Random
from typing import TYPE_CHECKING, Any

from overtone.curves.ragged import as_rows, check_elapsed, lengths_of
from overtone.errors import ArgumentError, SpaceError

if TYPE_CHECKING:
    from overtone.curves.nearest import Nearest

KEPT_ROWS = 4096
"""Maximum number of rows whose points are cached: a table may be large."""

Point = tuple[dict[str, float], float]
"""The metrics after an iteration, and the seconds that it took."""


class CurveTable:
    """Recorded curves, which `tune.run(table, engine=Simulated(...))` follows.

    Trials are drawn from `space()`, which `tune.run` takes where no other space is given. With a
    surrogate that is the hyperparameters' space, and a trial has the curve of the row that is
    nearest to its config, or a mixture of the nearest few; without one, it is the rows.

    Args:
        configs: The hyperparameters of each row: dicts, or a frame. None where they are not known.
        metrics: By name, an array [row, iteration], or lists of different lengths.
        seconds: Elapsed since the trial began, in the same form; None for 1 s an iteration.
        lengths: How many iterations each row has. Where it is not given, a row ends where every
            metric is NaN from then on: give it for rows that diverged, and report NaN to their end.
        space: The hyperparameters' domains, for a surrogate; by default from the least to the
            largest value of each, in its logarithm where that is 1,000 times as large.
        surrogate: "nearest", or a number k of rows that are mixed, by the inverse of their
            distances in the unit cube; None for none.
        name: What the experiment's folder begins with.

    Attributes:
        configs: One dict a row.
        lengths: Iterations of each row.
        metric_names: In the order in which they were given.

    Raises:
        ValueError: The shapes do not fit together, or a row's time runs backwards.
    """

    def __init__(
        self,
        configs: Any,
        metrics: Mapping[str, Any],
        seconds: Any = None,
        *,
        lengths: Sequence[int] | None = None,
        space: Mapping[str, Any] | None = None,
        surrogate: str | int | None = None,
        name: str = "table",
    ) -> None:
        if not isinstance(metrics, Mapping) or not metrics:
            shown = f"metrics={metrics!r:.100}: " if not isinstance(metrics, Mapping) else ""
            raise ArgumentError(
                f'{shown}a table needs at least one metric: {{"accuracy": [[0.3, 0.5], ...]}}'
            )
        if surrogate not in (None, "nearest") and not (type(surrogate) is int and surrogate >= 1):
            raise ArgumentError(f'surrogate={surrogate!r}: choose "nearest", a number of rows, or None')
        if space is not None and not isinstance(space, Mapping):
            raise ArgumentError(
                f'space={space!r:.100}: give domains by name, such as {{"lr": tune.uniform(0, 1)}}'
            )
        self.__name__ = self.__qualname__ = name
        self.metric_names = tuple(metrics)
        self._columns = {str(one): as_rows(str(one), values) for one, values in metrics.items()}
        self._elapsed = None if seconds is None else as_rows("seconds", seconds)
        n = len(next(iter(self._columns.values())))
        self.configs: list[dict[str, Any]] = _configs(configs, n)
        for column, rows in [*self._columns.items(), ("seconds", self._elapsed), ("configs", self.configs)]:
            if rows is not None and len(rows) != n:
                raise ArgumentError(f"{column} has {len(rows)} rows, and {self.metric_names[0]} has {n}")
        self.lengths = lengths_of(list(self._columns.values()), self._elapsed, lengths)
        if self._elapsed is not None:
            check_elapsed(self._elapsed, self.lengths)
        self._names = list(dict.fromkeys([name for one in self.configs for name in one]))
        self._given_space = space
        self._surrogate = surrogate
        self._nearest: Nearest | None = None
        self._rows_by_config: dict[tuple[Any, ...], int] | None = None
        self._ready: dict[int, list[Point]] = {}

    def __len__(self) -> int:
        return len(self.configs)

    def __repr__(self) -> str:
        return f"<CurveTable {self.__name__}: {len(self)} rows of {', '.join(self.metric_names)}>"

    # --- what is searched ------------------------------------------------------------------

    def space(self, hyperparameters: bool = False) -> dict[str, Any]:
        """Return the search space: a "row", or with a surrogate the hyperparameters.

        Args:
            hyperparameters: Whether configs with a "row" also show its hyperparameters.
        """
        from overtone.space import randint, sample_from

        if self._surrogate is not None:
            return dict(self._domains())
        found: dict[str, Any] = {"row": randint(0, len(self))}
        for name in self._names if hyperparameters else ():
            found[name] = sample_from(partial(self._value, name))
        return found

    default_search_space = space

    def _value(self, name: str, config: Any) -> Any:
        return self.configs[config["row"]].get(name)

    def rows(self, seed: int | None = None) -> list[dict[str, int]]:
        """Return every row once, as configs; in the order that `seed` shuffles them into, if one is given."""
        found = [{"row": row} for row in range(len(self))]
        if seed is not None:
            Random(seed).shuffle(found)
        return found

    # --- curves ----------------------------------------------------------------------------

    def curve_of(self, config: Mapping[str, Any]) -> Callable[[int], Point | None]:
        """Return a function from an iteration to its metrics and seconds, or None after the last.

        Raises:
            SpaceError: No row has this config, and there is no surrogate.
        """
        row = self._row_of(config)
        points = self._points(row) if row is not None else self._near().mixed(config, self._points)
        n = len(points)
        return lambda t: points[t - 1] if t <= n else None

    def __call__(self, config: Mapping[str, Any], t: int) -> Point | None:
        return self.curve_of(config)(t)

    def best(self, metric: str, mode: str = "max") -> float:
        """Return the best value of all rows and iterations; NaN counts for nothing."""
        every = [
            one for rows, n in zip([self._columns[metric]], [self.lengths], strict=True)
            for row, length in zip(rows, n, strict=True) for one in row[:length] if not isnan(one)
        ]  # fmt: skip
        return float(max(every) if mode == "max" else min(every))

    def _points(self, row: int) -> list[Point]:
        found = self._ready.get(row)
        if found is None:
            if len(self._ready) >= KEPT_ROWS:
                del self._ready[next(iter(self._ready))]
            found = self._ready[row] = self._made(row)
        return found

    def _made(self, row: int) -> list[Point]:
        n = self.lengths[row]
        columns = {name: [float(one) for one in rows[row][:n]] for name, rows in self._columns.items()}
        values = [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]
        if self._elapsed is None:
            return [(each, 1.0) for each in values]
        ends = [float(one) for one in self._elapsed[row][:n]]
        steps = [after - before for before, after in zip([0.0, *ends], ends, strict=False)]
        return list(zip(values, steps, strict=True))

    # --- from a config to a row ------------------------------------------------------------

    def _row_of(self, config: Mapping[str, Any]) -> int | None:
        """Return the row with this config; None to ask the surrogate."""
        row = config.get("row")
        if type(row) is int and 0 <= row < len(self):
            mine = self.configs[row]
            if len(config) == 1 or all(config.get(name, value) == value for name, value in mine.items()):
                return row
        elif row is not None and self._surrogate is None:
            raise SpaceError(f"row={row!r}: the table has the rows 0 to {len(self) - 1}")
        if self._rows_by_config is None:
            self._rows_by_config = {
                _key(one, self._names): i for i, one in reversed([*enumerate(self.configs)])
            }
        found = self._rows_by_config.get(_key(config, self._names)) if self._names else None
        if found is None and self._surrogate is None:
            raise SpaceError(
                f"no row of {self!r} has the config {dict(config)!r:.300}: draw from table.space(), "
                'or make the table with surrogate="nearest"'
            )
        return found

    def _near(self) -> Nearest:
        from overtone.curves.nearest import Nearest

        if self._nearest is None:
            k = self._surrogate if isinstance(self._surrogate, int) else 1
            self._nearest = Nearest(self._domains(), self.configs, k)
        return self._nearest

    def _domains(self) -> Mapping[str, Any]:
        from overtone.curves.domains import inferred

        if not self._names:
            raise SpaceError("a surrogate needs the hyperparameters of each row: give configs")
        return self._given_space if self._given_space is not None else inferred(self.configs)


def _configs(given: Any, n: int) -> list[dict[str, Any]]:
    if given is None:
        return [{} for _ in range(n)]
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        given = given.to_dict("records")
    if isinstance(given, (str, Mapping)) or not all(isinstance(row, Mapping) for row in given):
        raise ArgumentError(f"configs={given!r:.100}: give a dict for each row, or a frame")
    return [
        {str(name): one.item() if hasattr(one, "item") else one for name, one in row.items()} for row in given
    ]


def _key(config: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple([repr(config.get(name)) for name in names])
