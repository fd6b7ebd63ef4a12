"""Writes an experiment as a study into a new SQLite file, which Optuna opens as a storage."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timezone
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from overtone.core.goal import OWN_FIELDS, Goal, is_number, lookup
from overtone.core.types import FINISHED, cause_of_end
from overtone.errors import OvertoneError, SpaceError
from overtone.importers.optuna.distributions import Distribution, as_choice, of_domain, of_values
from overtone.importers.optuna.schema import CONSTRAINTS, FAIL_REASON, METRIC_NAMES
from overtone.importers.optuna.study_writer import StudyWriter
from overtone.reading.imported import imported_facts
from overtone.space import flatten, parse, space_from_data
from overtone.space.tree import Drawn, Group, Node, Pick

if TYPE_CHECKING:
    from overtone.analysis import RecordedTrial

_NOT_ATTRIBUTES = OWN_FIELDS | {"step", "user_attrs"}
_MOST_DISTINCT = 1000


def write_study(
    path: str, name: str, header: Mapping[str, Any], goal: Goal, trials: Sequence[RecordedTrial]
) -> int:
    """Write the study, and return the number of trials.

    A trial that ended by itself is COMPLETE, a stopped one PRUNED, a failed one FAIL; a pending one is
    WAITING, and others are RUNNING. Each result is an intermediate value at its `step`, if results have it,
    else at its training_iteration. As in Optuna, a trial that ended without a number is FAIL.

    Args:
        path: A file that does not exist yet.
        header: The journal's first record.
        goal: The objectives and constraints.

    Raises:
        OvertoneError: The file exists or cannot be written, or no metric is known. Nothing is left behind.
    """
    if os.path.lexists(path):
        raise OvertoneError(f"{path} exists already, and may hold other studies: name a new file")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise OvertoneError(f"there is no folder {os.path.dirname(path)} for {os.path.basename(path)}")
    if not goal.metrics:
        raise OvertoneError("a study of Optuna needs an objective: name it with --metric and --mode")
    try:
        with TemporaryDirectory(prefix=".export-", dir=os.path.dirname(path) or ".") as folder:
            draft = os.path.join(folder, "study.db")
            with closing(sqlite3.connect(draft, isolation_level=None)) as database:
                database.execute("BEGIN")
                count = _Study(StudyWriter(database), name, header, goal).add(trials)
                database.execute("COMMIT")
            os.link(draft, path)  # Unlike a rename, it replaces nothing.
    except FileExistsError:
        raise OvertoneError(f"{path} was made meanwhile: name a new file") from None
    except OverflowError as error:
        raise OvertoneError(
            f"{path} cannot be written: a number is too large for Optuna ({error})"
        ) from error
    except (sqlite3.Error, OSError) as error:
        raise OvertoneError(f"{path} cannot be written: {error}") from error
    return count


class _Study:
    def __init__(self, writer: StudyWriter, name: str, header: Mapping[str, Any], goal: Goal) -> None:
        self._writer, self._goal = writer, goal
        self._wall = float(header.get("wall", 0.0))
        facts = imported_facts(header)
        user = facts.get("user_attrs")
        directions = ["MAXIMIZE" if one == "max" else "MINIMIZE" for one in goal.modes]
        system = {METRIC_NAMES: list(goal.metrics)}
        self._id = writer.add_study(name, directions, user if isinstance(user, Mapping) else {}, system)
        self._given = _recorded(header, facts)
        self._distributions: dict[str, Distribution] = {}

    def add(self, trials: Sequence[RecordedTrial]) -> int:
        """Add all trials; their configs are read twice, first for the distributions."""
        self._distributions = _fitting(self._given, (_flat(one.config) for one in trials))
        for number, trial in enumerate(trials):
            self._add(number, trial)
        return len(trials)

    def _add(self, number: int, trial: RecordedTrial) -> None:
        values: list[Any] = []
        steps: dict[int, float] = {}
        by_iteration: dict[int, float] = {}
        has_steps, last, lasted = False, {}, 0.0
        for last in trial.results():
            found = [lookup(last, name) for name in self._goal.metrics]
            lasted = last["time_total_s"] if is_number(last.get("time_total_s")) else lasted
            if not all(map(is_number, found)):
                continue
            values = [float(one) for one in found]
            by_iteration[int(last["training_iteration"])] = values[0]
            if type(last.get("step")) is int:
                has_steps = True
                steps[last["step"]] = values[0]
        state = _state(trial, values)
        started = trial.run_metadata.start_time
        begin = None if started is None or state == "WAITING" else started
        ended = begin + lasted if begin is not None and state not in ("WAITING", "RUNNING") else None
        trial_id = self._writer.add_trial(None, self._id, number, state, _utc(begin), _utc(ended))
        flat = _flat(trial.config)
        params = {
            name: (one.internal(flat[name]), one.text())
            for name, one in self._distributions.items()
            if name in flat
        }
        if state != "WAITING":  # Optuna sets its parameters from `fixed_params` when it runs.
            self._writer.set_params(trial_id, params)
        if state in ("COMPLETE", "PRUNED") and values and all(one == one for one in values):
            self._writer.set_values(trial_id, values)
        if len(self._goal.metrics) == 1:
            self._writer.set_steps(trial_id, steps if has_steps else by_iteration)
        self._writer.set_attributes("user", trial_id, _attributes(trial, last, self._goal))
        self._writer.set_attributes("system", trial_id, self._system(trial, state, last))

    def _system(self, trial: RecordedTrial, state: str, last: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._goal.constraints and last:
            found[CONSTRAINTS] = list(self._goal.violations(last))
        if state == "FAIL" and trial.error:
            found[FAIL_REASON] = trial.error
        if state == "WAITING":
            found["fixed_params"] = {k: v for k, v in _flat(trial.config).items() if k in self._distributions}
        return found


def _state(trial: RecordedTrial, values: Sequence[float]) -> str:
    if trial.status == "ERROR":
        return "FAIL"
    if trial.status == "PENDING" and not values:
        return "WAITING"
    if trial.status != "TERMINATED":
        return "RUNNING"
    if cause_of_end(trial.why) != FINISHED:
        return "PRUNED"
    return "COMPLETE" if values and all(one == one for one in values) else "FAIL"


def _attributes(trial: RecordedTrial, last: Mapping[str, Any], goal: Goal) -> dict[str, Any]:
    """Return the user attributes: those of the import, the other metrics of the last result, and the id."""
    given = last.get("user_attrs")
    found = dict(given) if isinstance(given, Mapping) else {}
    for name, value in last.items():
        if name not in _NOT_ATTRIBUTES and name not in goal.metrics and name not in goal.constraints:
            found.setdefault(name, value)
    found.setdefault("overtone:trial_id", trial.trial_id)
    return found


# --- distributions ---------------------------------------------------------------------------


def _recorded(header: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Distribution]:
    """Return the distributions that an import recorded, or those of the space's domains, by path."""
    texts = facts.get("distributions")
    if isinstance(texts, Mapping):
        return {str(name): Distribution(str(text)) for name, text in texts.items()}
    try:
        root = parse(space_from_data(header.get("parts", {}).get("space") or {}))
    except SpaceError:  # It has functions: the values of the configs tell.
        return {}
    found = ((path, _of_node(node)) for path, node in _leaves(root))
    return {path: one for path, one in found if one is not None}


def _leaves(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    if isinstance(node, Group):
        for key, item in node.items.items():
            yield from _leaves(item, f"{path}/{key}" if path else str(key))
    else:
        yield path, node


def _of_node(node: Node) -> Distribution | None:
    if isinstance(node, Drawn):
        return of_domain(node.domain)
    if isinstance(node, Pick) and all(
        type(one) in (type(None), bool, int, float, str) for one in node.values
    ):
        return Distribution.of("categorical", {"choices": list(node.values)})
    return None


def _fitting(
    given: Mapping[str, Distribution], configs: Iterator[Mapping[str, Any]]
) -> dict[str, Distribution]:
    """Return a distribution for each parameter, which contains all its values; constants have none."""
    ranges: dict[str, _Range] = {}
    for config in configs:
        for name, value in config.items():
            ranges.setdefault(name, _Range()).add(value)
    found: dict[str, Distribution] = {}
    for name, one in ranges.items():
        known = given.get(name)
        if known is None and len(one.values) <= 1:
            continue
        seen = of_values(one.values.values())
        if known is None:
            found[name] = seen
        elif one.is_inside(known):
            found[name] = known
        else:
            found[name] = _widened(known, seen) if known.kind == seen.kind else seen
    return found


def _widened(known: Distribution, seen: Distribution) -> Distribution:
    """Return a distribution that contains another one of the same kind, whose scale it keeps."""
    if known.kind != "categorical":
        is_log = known.data["log"] and seen.data["low"] > 0
        seen = Distribution.of(seen.kind, {**seen.data, "log": is_log})
    return known.united(seen)


class _Range:
    """The values of a parameter: all, or of many numbers the least and the largest."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any) -> None:
        self.values.setdefault(repr(value), value)
        if len(self.values) > _MOST_DISTINCT and all(map(is_number, self.values.values())):
            numbers = list(self.values.values())
            kept = [min(numbers), max(numbers), *[one for one in numbers if type(one) is float][:1]]
            self.values = {repr(one): one for one in kept}

    def is_inside(self, known: Distribution) -> bool:
        try:
            for value in self.values.values():
                known.internal(value)
                if known.kind != "categorical" and not known.data["low"] <= value <= known.data["high"]:
                    return False
                if known.kind == "int" and value != int(value):
                    return False
        except (SpaceError, TypeError, ValueError):
            return False
        return True


def _flat(config: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): as_choice(value) for name, value in flatten(config).items()}


def _utc(moment: float | None) -> str | None:
    """Return a time as Optuna stores it; None if it is unknown or outside of the calendar."""
    if moment is None:
        return None
    try:
        time = datetime.fromtimestamp(moment, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return f"{time:%Y-%m-%d %H:%M:%S.%f}"
