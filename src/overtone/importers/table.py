"""Reads a table: columns of hyperparameters and of metrics, a row for each trial or each of its results."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

from overtone.core.goal import is_finite, is_number
from overtone.errors import OvertoneError, StorageError
from overtone.importers.cells import cell_value, nested_names
from overtone.importers.foreign import ForeignExperiment, ForeignResult, ForeignTrial, State

PREFIXES = ("config/", "config.", "config_", "params/", "params.", "params_", "param_")
"""Columns whose names begin so are hyperparameters, if none are named."""

TRIAL = ("trial_id", "trial", "number", "run", "run_id", "_id")
ITERATION = ("training_iteration", "step", "_step", "epoch", "iteration")
STATE = ("state", "status")
STARTED, ENDED = ("datetime_start", "started"), ("datetime_complete", "ended")
SECONDS = ("time_total_s", "seconds", "duration_s", "duration", "elapsed_time", "_runtime")
INDEX = ("", "Unnamed: 0")
"""The index of a data frame, which is not a metric."""

MOST_CELL = 1 << 26
"""Maximum length of a cell, in characters; Python's own limit is 131,072."""

_STATES: dict[str, State] = {
    "complete": "done", "completed": "done", "terminated": "done", "finished": "done", "done": "done",
    "pruned": "stopped", "stopped": "stopped", "stopping": "stopped",
    "fail": "failed", "failed": "failed", "error": "failed", "crashed": "failed",
    "running": "running", "in_progress": "running", "paused": "running", "waiting": "waiting",
    "pending": "waiting",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Roles:
    """The columns of a table by what they are; "" for a column that it does not have.

    Attributes:
        params: The hyperparameter of each such column.
    """

    params: Mapping[str, str]
    trial: str = ""
    iteration: str = ""
    state: str = ""
    started: str = ""
    ended: str = ""
    seconds: str = ""


def read_table(path: Path, params: Sequence[str] = (), metric: Sequence[str] = ()) -> ForeignExperiment:
    """Return the description of a table's experiment; its rows are read as they are asked for.

    Args:
        params: The columns that are hyperparameters; by default those with one of `PREFIXES`.
        metric: Metrics, which must be columns.

    Raises:
        OvertoneError: It cannot be told which columns are hyperparameters, or a named column is missing.
        StorageError: The file cannot be read.
    """
    columns = _columns(path)
    roles = roles_of(path, columns, params, metric)
    return ForeignExperiment(
        tuner="a table",
        source=str(path.absolute()),
        name=path.name.partition(".")[0],
        trials=trials_of(_rows(path), roles),
        started=_first_start(path, roles),
    )


def roles_of(path: Path, columns: Sequence[str], params: Sequence[str], metric: Sequence[str]) -> Roles:
    """Return what each column is.

    Raises:
        OvertoneError: See `read_table`.
    """
    example = columns[0] if columns else "lr"
    shown = ", ".join(columns[:20]) + (f" and {len(columns) - 20} more" if len(columns) > 20 else "")
    for one in (*params, *metric):
        if one not in columns:
            raise OvertoneError(f"{path} has no column {one!r}: it has {shown or 'no columns'}")
    named = {one: one for one in params}
    if not named:
        named = {
            one: one.removeprefix(prefix)
            for one in columns
            for prefix in PREFIXES
            if one.startswith(prefix) and len(one) > len(prefix)
        }
    if not named:
        raise OvertoneError(
            f"{path}: no column begins with {', '.join(PREFIXES)}, so that hyperparameters and metrics "
            f"cannot be told apart: name the hyperparameters, as in --params {example}; the "
            f"columns are {shown or 'none'}"
        )
    free = [one for one in columns if one not in named and one not in metric]
    found = [
        next((one for one in names if one in free), "") for names in (TRIAL, STATE, STARTED, ENDED, SECONDS)
    ]
    iteration = next((one for one in ITERATION if one in free), "")
    return Roles(named, found[0], iteration, *found[1:])


def trials_of(rows: Iterator[dict[str, str]], roles: Roles) -> Iterator[ForeignTrial]:
    """Yield the trials of rows: consecutive rows with the same value in the column of trials are one trial.

    Without such a column each row is a trial. A trial whose rows are not consecutive is put together: then
    all rows are read first.
    """
    if not roles.trial:
        for row in rows:
            yield _trial([row], roles)
        return
    if not roles.iteration:
        for _, group in groupby(rows, key=lambda row: row.get(roles.trial)):
            yield _trial(list(group), roles)
        return
    together: dict[str | None, list[dict[str, str]]] = {}
    for row in rows:
        together.setdefault(row.get(roles.trial), []).append(row)
    for group_rows in together.values():
        yield _trial(group_rows, roles)


def _trial(rows: Sequence[dict[str, str]], roles: Roles) -> ForeignTrial:
    special = {roles.trial, roles.state, roles.started, roles.ended, *INDEX}
    first, last = rows[0], rows[-1]
    config = {
        name: cell_value(first.get(column)) for column, name in roles.params.items() if first.get(column)
    }
    results: list[ForeignResult] = []
    for row in rows:
        metrics: dict[str, Any] = {
            name: cell_value(text)
            for name, text in row.items()
            if text not in ("", None) and name not in special and name not in roles.params
        }
        t = metrics.pop("training_iteration", None)
        seconds: Any = metrics.get(roles.seconds)
        if metrics:
            is_known = is_number(seconds) and seconds >= 0 and is_finite(seconds)
            results.append(
                ForeignResult(
                    nested_names(metrics),
                    t if type(t) is int and t > 0 else 0,
                    float(seconds) if is_known else None,
                )
            )
    state = _STATES.get(str(last.get(roles.state, "")).strip().rpartition(".")[2].lower(), "done")
    return ForeignTrial(
        config=nested_names(config),
        state=state,
        results=results,
        started=_moment(first.get(roles.started)),
        ended=_moment(last.get(roles.ended)),
        name=(first.get(roles.trial) or "") if not (first.get(roles.trial) or "0").isdigit() else "",
        reason="stopped" if state == "stopped" else "",
    )


def _moment(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text or "").timestamp()
    except ValueError:
        return None


def _first_start(path: Path, roles: Roles) -> float | None:
    if not roles.started:
        return None
    found = (_moment(row.get(roles.started)) for row in _rows(path))
    return min((one for one in found if one is not None), default=None)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    limit = csv.field_size_limit(MOST_CELL)
    try:
        with open(path, encoding="utf-8-sig", newline="", errors="strict") as file:
            yield file
    finally:
        csv.field_size_limit(limit)


def _reader(path: Path, file: TextIO) -> Iterator[list[str]]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    return csv.reader(file, delimiter=delimiter)


def _columns(path: Path) -> list[str]:
    with _opened(path) as file:
        try:
            return next(_reader(path, file), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise _not_a_table(path, error) from error


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with _opened(path) as file:
        yield from named_rows(path, _reader(path, file))


def named_rows(path: Path, rows: Iterator[list[str]]) -> Iterator[dict[str, str]]:
    """Yield rows by column; the first row has the names.

    Raises:
        StorageError: A row has more cells than there are columns, or it is not text.
    """
    try:
        columns = next(rows, [])
        for n, cells in enumerate(rows, 2):
            if len(cells) > len(columns):
                raise StorageError(
                    f"{path}, row {n} has {len(cells)} cells, and there are {len(columns)} columns"
                )
            if cells:
                yield dict(zip(columns, cells, strict=False))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _not_a_table(path, error) from error


def _not_a_table(path: Path, error: Exception) -> StorageError:
    return StorageError(f"{path} cannot be read as a table in UTF-8: {error}")
