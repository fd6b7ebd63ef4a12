"""Reads a JournalFile of Optuna: its operations, one JSON object a line, are applied to a database.

An operation that Optuna itself ignores is ignored here: on a study that was deleted, on a trial that has
ended, and a parameter whose distribution contradicts an earlier one. Snapshots of other backends, which are
pickles, are not read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from overtone.errors import StorageError
from overtone.importers.optuna.distributions import Distribution
from overtone.importers.optuna.schema import DIRECTIONS, STATES
from overtone.importers.optuna.study_writer import StudyWriter
from overtone.regular_files import open_regular

_FINISHED = frozenset({"COMPLETE", "PRUNED", "FAIL"})
_TIMES_ARE_LOCAL = "4"
"""Optuna 5 writes times with their zone; the times of earlier versions have none, and are local."""


@contextmanager
def opened_journal(
    path: Path, scratch: Path, on_line: Callable[[int], None] = lambda _: None
) -> Iterator[sqlite3.Connection]:
    """Apply all operations of a file, and open the resulting database.

    A torn last line, which a writer that was killed left behind or that is just being written, is ignored.

    Args:
        scratch: A folder for the database.
        on_line: Called with the number of each line that is read.

    Raises:
        StorageError: A line is not an operation; the message names it.
    """
    with closing(sqlite3.connect(scratch / "journal.db", isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("BEGIN")
        operations = _Operations(database)
        for n, line in _lines(path):
            on_line(n)
            try:
                operations.apply(json.loads(line))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError, sqlite3.Error) as error:
                raise StorageError(
                    f"{path}, line {n}: {line[:80]!r} is not an operation of Optuna "
                    f"({type(error).__name__}: {error}): restore the file from a copy"
                ) from error
        database.execute("COMMIT")
        yield database


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the whole lines with their numbers; a last line without its end, or that is not JSON, is torn."""
    with open_regular(path) as file:
        before: tuple[int, bytes] | None = None
        for n, line in enumerate(file, 1):
            if before is not None:
                yield before
            before = (n, line) if line.endswith(b"\n") else None
        if before is not None and _is_json(before[1]):
            yield before


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


class _Operations:
    """Applies operations, as far as they are valid."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._writer = StudyWriter(database, _TIMES_ARE_LOCAL)
        self._studies: dict[int, str] = {}
        self._n_studies = 0
        self._n_trials: dict[int, int] = {}  # By study.
        self._study_of: list[int] = []  # By trial.
        self._states: list[str] = []  # By trial.
        self._known: dict[tuple[int, str], Distribution] = {}
        self._apply: dict[int, Callable[[dict[str, Any]], None]] = {
            0: self._create_study,
            1: self._delete_study,
            2: lambda log: self._set_of_study("user", log),
            3: lambda log: self._set_of_study("system", log),
            4: self._create_trial,
            5: self._set_param,
            6: self._set_state,
            7: self._set_step,
            8: lambda log: self._set_of_trial("user", log),
            9: lambda log: self._set_of_trial("system", log),
        }

    def apply(self, log: dict[str, Any]) -> None:
        """Apply one operation; an unknown kind, of a newer version, is ignored."""
        apply = self._apply.get(log["op_code"])
        if apply is not None:
            apply(log)

    def _create_study(self, log: dict[str, Any]) -> None:
        name = log["study_name"]
        if name in self._studies.values():
            return
        study_id, self._n_studies = self._n_studies, self._n_studies + 1
        self._studies[study_id] = name
        self._n_trials[study_id] = 0
        self._writer.add_study(name, [DIRECTIONS[one] for one in log["directions"]], study_id=study_id)

    def _delete_study(self, log: dict[str, Any]) -> None:
        if self._studies.pop(log["study_id"], None) is not None:
            self._database.execute("DELETE FROM studies WHERE study_id = ?", (log["study_id"],))

    def _set_of_study(self, kind: str, log: dict[str, Any]) -> None:
        if log["study_id"] in self._studies:
            for key, value in log[f"{kind}_attr"].items():
                self._writer.set_study_attribute(kind, log["study_id"], key, value)

    def _create_trial(self, log: dict[str, Any]) -> None:
        study_id = log["study_id"]
        if study_id not in self._studies:
            return
        trial_id, number = len(self._states), self._n_trials[study_id]
        self._n_trials[study_id] += 1
        state = STATES[log.get("state", 0)]
        self._states.append(state)
        self._study_of.append(study_id)
        times = log["datetime_start"], log.get("datetime_complete")
        self._writer.add_trial(trial_id, study_id, number, state, *times)
        texts = log.get("distributions", {})
        params = {name: (value, texts[name]) for name, value in log.get("params", {}).items()}
        self._writer.set_params(trial_id, params)
        for name, text in texts.items():
            self._known.setdefault((study_id, name), Distribution(text))
        values = log.get("values") or ([] if log.get("value") is None else [log["value"]])
        self._writer.set_values(trial_id, values)
        steps = log.get("intermediate_values", {})
        self._writer.set_steps(trial_id, {int(step): value for step, value in steps.items()})
        self._writer.set_attributes("user", trial_id, log.get("user_attrs", {}))
        self._writer.set_attributes("system", trial_id, log.get("system_attrs", {}))

    def _set_param(self, log: dict[str, Any]) -> None:
        trial_id, name, text = log["trial_id"], log["param_name"], log["distribution"]
        if not self._is_open(trial_id):
            return
        distribution = Distribution(text)
        known = self._known.setdefault((self._study_of[trial_id], name), distribution)
        if _are_compatible(known, distribution):
            self._writer.set_params(trial_id, {name: (log["param_value_internal"], text)})

    def _set_state(self, log: dict[str, Any]) -> None:
        trial_id, state = log["trial_id"], STATES[log["state"]]
        if not self._is_open(trial_id) or (state == "RUNNING" == self._states[trial_id]):
            return
        self._states[trial_id] = state
        times = log.get("datetime_start"), log.get("datetime_complete")
        self._database.execute(
            "UPDATE trials SET state = ?, datetime_start = COALESCE(?, datetime_start), "
            "datetime_complete = COALESCE(?, datetime_complete) WHERE trial_id = ?",
            (state, *times, trial_id),
        )
        if log["values"] is not None:
            self._writer.set_values(trial_id, log["values"])

    def _set_step(self, log: dict[str, Any]) -> None:
        if self._is_open(log["trial_id"]):
            self._writer.set_steps(log["trial_id"], {log["step"]: log["intermediate_value"]})

    def _set_of_trial(self, kind: str, log: dict[str, Any]) -> None:
        if self._is_open(log["trial_id"]):
            self._writer.set_attributes(kind, log["trial_id"], log[f"{kind}_attr"])

    def _is_open(self, trial_id: int) -> bool:
        return 0 <= trial_id < len(self._states) and self._states[trial_id] not in _FINISHED


def _are_compatible(known: Distribution, new: Distribution) -> bool:
    """Return whether Optuna takes a parameter with a new distribution: ranges may differ, choices may not."""
    if known.kind != new.kind:
        return False
    if known.kind == "categorical":
        return known == new
    return bool(known.data["log"] == new.data["log"])
