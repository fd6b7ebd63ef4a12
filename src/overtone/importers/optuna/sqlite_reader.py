"""Reads a study from Optuna's tables in SQLite, with the standard library alone, trial by trial."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from overtone.errors import OvertoneError, StorageError
from overtone.importers.foreign import ForeignExperiment, ForeignResult, ForeignTrial, State
from overtone.importers.optuna.distributions import Distribution, space_of
from overtone.importers.optuna.names import as_config
from overtone.importers.optuna.schema import (
    CONSTRAINTS,
    DIRECTIONS,
    FAIL_REASON,
    FIXED_PARAMS,
    METRIC_NAMES,
    loaded,
)
from overtone.space import space_to_data

_STATE: dict[str, State] = {
    "RUNNING": "running", "COMPLETE": "done", "PRUNED": "stopped", "FAIL": "failed", "WAITING": "waiting",
}  # fmt: skip
_UTC_SINCE = 5
"""The major version of Optuna that began to write times in UTC; before, they were local."""

_KEPT = {CONSTRAINTS, FIXED_PARAMS, FAIL_REASON}
_MOST_LISTED = 10
Row = tuple[Any, ...]


def read_study(database: sqlite3.Connection, source: str, name: str | None) -> ForeignExperiment:
    """Return the description of a study; its trials are read from the open database as they are asked for.

    Args:
        source: The file or URL, for messages.
        name: The study; None if there is one alone.

    Raises:
        OvertoneError: There is no such study, or there are several.
        StorageError: The tables are not Optuna's, or damaged.
    """
    try:
        return _Study(database, source, name).described()
    except sqlite3.Error as error:
        raise unreadable(source, error) from error


def unreadable(source: str, error: Exception) -> StorageError:
    """Return the error for a file that SQLite cannot read."""
    if "locked" in str(error):
        return StorageError(
            f"{source} is locked: another process is writing to it. Try again when it is done"
        )
    return StorageError(
        f"{source} cannot be read as a storage of Optuna ({error}): restore it from a copy, or try "
        f"`sqlite3 {source} .recover`"
    )


class _Study:
    def __init__(self, database: sqlite3.Connection, source: str, name: str | None) -> None:
        self._database, self._source = database, source
        self._tables = {
            table for (table,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if not {"studies", "trials", "trial_params"} <= self._tables:
            raise StorageError(
                f"{source} is a database without the tables of Optuna: it has {self._listed()}"
            )
        if "trial_intermediate_values" not in self._tables:
            raise StorageError(
                f"{source} was written by Optuna 2.3 or earlier: bring a copy up to date with "
                f"`optuna storage upgrade --storage sqlite:///{source}`"
            )
        views = [view for (view,) in self._rows("SELECT name FROM sqlite_master WHERE type = 'view'")]
        if views:  # The query of a view may run without end; Optuna has none.
            raise StorageError(f"{source} has the view {views[0]!r}, which Optuna does not make")
        self._id, self.name = self._chosen(name)
        self._of_study = f"(SELECT trial_id FROM trials WHERE study_id = {self._id})"
        self._zone = timezone.utc if self._writes_utc() else None
        self._distributions: dict[str, Distribution] = {}
        self._parsed: dict[str, Distribution] = {}
        self._metrics: tuple[str, ...] = ()
        self._n_constraints = 0
        self.lost: list[str] = []

    def described(self) -> ForeignExperiment:
        """Return the study."""
        directions = self._directions()
        user, system = self._attributes("user"), self._attributes("system")
        self._metrics = _names(system.get(METRIC_NAMES), len(directions))
        self._n_constraints = self._count_constraints()
        n_trials, first = self._one(
            "SELECT COUNT(*), MIN(datetime_start) FROM trials WHERE study_id = ?", (self._id,)
        )
        self._read_distributions()
        others = [key for key in system if key != METRIC_NAMES]
        if others:
            self.lost.append(f"{len(others)} system attribute{'s' * (len(others) > 1)} of the study")
        facts = {"study": self.name, "user_attrs": user, "optuna": self._library_version()}
        texts = {name: one.text() for name, one in self._distributions.items()}
        return ForeignExperiment(
            tuner="Optuna",
            source=self._source,
            name=self.name,
            trials=self._trials(),
            n_trials=n_trials,
            metric=self._metrics,
            mode=["max" if one == "MAXIMIZE" else "min" for one in directions],
            constraints={_constraint(i): 0.0 for i in range(self._n_constraints)},
            space=space_to_data(space_of(self._distributions)),
            started=self._seconds(first),
            facts={**facts, "distributions": texts},
            lost=self.lost,
        )

    # --- the study ---------------------------------------------------------------------

    def _chosen(self, name: str | None) -> tuple[int, str]:
        """Return the study's id and name."""
        found: dict[str, int] = dict(self._rows("SELECT study_name, study_id FROM studies ORDER BY study_id"))
        if name is not None and name in found:
            return found[name], name
        if name is None and len(found) == 1:
            (only,) = found.items()
            return only[1], only[0]
        if not found:
            raise OvertoneError(f"{self._source} holds no study")
        shown = ", ".join(repr(one) for one in list(found)[:_MOST_LISTED])
        more = f" and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
        what = f"no study {name!r}" if name is not None else f"{len(found)} studies"
        raise OvertoneError(f"{self._source} holds {what}: choose one with --study, of {shown}{more}")

    def _directions(self) -> list[str]:
        """Return the direction of each objective."""
        query = "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective"
        found = [str(one) for (one,) in self._rows(query, (self._id,))]
        if unknown := [one for one in found if one not in DIRECTIONS]:
            raise StorageError(f"{self._source}: study {self.name!r} has the direction {unknown[0]!r}")
        return found

    def _attributes(self, kind: str) -> dict[str, Any]:
        query = f'SELECT "key", value_json FROM study_{kind}_attributes WHERE study_id = ?'
        rows = self._rows(query, (self._id,))
        return {str(key): _json(text) for key, text in rows}

    def _count_constraints(self) -> int:
        row = self._one(
            'SELECT value_json FROM trial_system_attributes WHERE "key" = ? AND trial_id IN '
            f"{self._of_study} AND value_json NOT IN ('null', '[]') LIMIT 1",
            (CONSTRAINTS,),
        )
        values = _json(row[0]) if row else None
        return len(values) if isinstance(values, list) else 0

    def _read_distributions(self) -> None:
        """Unite the distributions of each parameter."""
        rows = self._rows(
            f"SELECT param_name, distribution_json FROM trial_params WHERE trial_id IN {self._of_study} "
            "GROUP BY param_name, distribution_json ORDER BY MIN(param_id)"
        )
        for name, text in rows:
            one = self._distribution(text)
            known = self._distributions.get(name)
            self._distributions[name] = one if known is None or known == one else known.united(one)

    def _library_version(self) -> str:
        row = (
            self._one("SELECT library_version FROM version_info") if "version_info" in self._tables else None
        )
        return str(row[0]) if row else ""

    def _writes_utc(self) -> bool:
        major = self._library_version().split(".")[0]
        return major.isdigit() and int(major) >= _UTC_SINCE

    # --- trials ------------------------------------------------------------------------

    def _trials(self) -> Iterator[ForeignTrial]:
        """Yield the trials in the order of their creation; each table is read once, in that order."""
        try:
            yield from self._joined()
        except sqlite3.Error as error:
            raise unreadable(self._source, error) from error

    def _joined(self) -> Iterator[ForeignTrial]:
        has_type = "value_type" in self._columns("trial_values")
        of_params = self._by_trial("trial_params", "param_name, param_value, distribution_json", "param_id")
        of_values = self._by_trial(
            "trial_values", f"value, {'value_type' if has_type else 'NULL'}", "objective"
        )
        of_steps = self._steps()
        of_user = self._by_trial("trial_user_attributes", '"key", value_json', "trial_user_attribute_id")
        of_system = self._by_trial(
            "trial_system_attributes", '"key", value_json', "trial_system_attribute_id"
        )
        n_system = 0
        rows = self._rows(
            "SELECT trial_id, state, datetime_start, datetime_complete FROM trials WHERE study_id = ? "
            "ORDER BY trial_id",
            (self._id,),
        )
        for trial_id, state, started, ended in rows:
            system = {key: _json(text) for key, text in of_system.of(trial_id)}
            n_system += len(system.keys() - _KEPT)
            yield self._trial(
                str(state),
                (self._seconds(started), self._seconds(ended)),
                {name: self._distribution(text).value(value) for name, value, text in of_params.of(trial_id)},
                [loaded(value, kind) for value, kind in of_values.of(trial_id)],
                [(step, loaded(value, kind)) for step, value, kind in of_steps.of(trial_id)],
                {str(key): _json(text) for key, text in of_user.of(trial_id)},
                system,
            )
        if n_system:
            self.lost.append(f"{n_system:,} system attribute{'s' * (n_system > 1)} of trials")

    def _trial(
        self,
        state: str,
        times: tuple[float | None, float | None],
        params: Mapping[str, Any],
        values: Sequence[float | None],
        steps: Sequence[tuple[int, float | None]],
        user: Mapping[str, Any],
        system: Mapping[str, Any],
    ) -> ForeignTrial:
        if state not in _STATE:
            raise StorageError(f"{self._source}: a trial has the state {state!r}, which Optuna does not have")
        name = self._metrics[0] if self._metrics else "value"
        results: list[dict[str, Any]] = [
            {"step": step, name: value} for step, value in steps if value is not None
        ]
        final = dict(zip(self._metrics, values, strict=False)) if None not in values else {}
        if final and not (results and _is_same(results[-1][name], values)):
            results.append(final)
        last = results.pop() if results else {}
        bounds = system.get(CONSTRAINTS)
        if isinstance(bounds, list):
            last.update({_constraint(i): one for i, one in enumerate(bounds[: self._n_constraints])})
        if user:
            last["user_attrs"] = dict(user)
        made = [ForeignResult(one) for one in results]
        fixed = system.get(FIXED_PARAMS) if state == "WAITING" else None
        return ForeignTrial(
            config=as_config(fixed if isinstance(fixed, dict) else params),
            state=_STATE[state],
            results=[*made, ForeignResult(last)] if last else made,
            started=times[0],
            ended=times[1],
            reason="pruned" if state == "PRUNED" else "",
            error=str(system.get(FAIL_REASON, "")).split("\n")[0] if state == "FAIL" else "",
        )

    def _steps(self) -> _Rows:
        """Return the intermediate values; before Optuna 3 they had no type."""
        columns = self._columns("trial_intermediate_values")
        kind = "intermediate_value_type" if "intermediate_value_type" in columns else "NULL"
        return self._by_trial("trial_intermediate_values", f"step, intermediate_value, {kind}", "step")

    def _by_trial(self, table: str, columns: str, order: str) -> _Rows:
        return _Rows(
            self._rows(
                f"SELECT trial_id, {columns} FROM {table} WHERE trial_id IN {self._of_study} "
                f"ORDER BY trial_id, {order}"
            )
        )

    def _distribution(self, text: str) -> Distribution:
        found = self._parsed.get(text)
        if found is None:
            found = self._parsed[text] = Distribution(text)
        return found

    def _seconds(self, text: Any) -> float | None:
        """Return a time of the database in seconds since 1970."""
        if not isinstance(text, str):
            return None
        try:
            time = datetime.fromisoformat(text)
        except ValueError:
            return None
        return (time.replace(tzinfo=self._zone) if time.tzinfo is None else time).timestamp()

    # --- SQL ---------------------------------------------------------------------------

    def _rows(self, query: str, values: Row = ()) -> Iterator[Row]:
        return iter(self._database.execute(query, values))

    def _one(self, query: str, values: Row = ()) -> Any:
        return self._database.execute(query, values).fetchone()

    def _columns(self, table: str) -> set[str]:
        return {row[1] for row in self._rows(f"PRAGMA table_info({table})")}

    def _listed(self) -> str:
        return ", ".join(sorted(self._tables)[:_MOST_LISTED]) or "none"


class _Rows:
    """The rows of a table by trial, in the order of trials."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, trial_id: int) -> list[Row]:
        """Return the rows of a trial; those of earlier trials are passed."""
        found: list[Row] = []
        row = self._next
        while row is not None and row[0] <= trial_id:
            if row[0] == trial_id:
                found.append(row[1:])
            row = next(self._rows, None)
        self._next = row
        return found


def _names(given: Any, n: int) -> tuple[str, ...]:
    """Return the names of the objectives."""
    if isinstance(given, list) and len(given) == n and all(isinstance(one, str) and one for one in given):
        return tuple(given)
    return ("value",) if n == 1 else tuple(f"values_{i}" for i in range(n))


def _constraint(index: int) -> str:
    return f"constraint_{index}"


def _is_same(value: Any, values: Sequence[Any]) -> bool:
    """Return whether the final value repeats the last intermediate value."""
    return len(values) == 1 and (values[0] == value or (values[0] != values[0] and value != value))


def _json(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return text
