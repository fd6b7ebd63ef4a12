"""Incremental summary of a journal for `overtone ls`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from sys import intern
from typing import Any

from overtone.core.goal import Goal, is_finite, is_number, lookup, real
from overtone.core.messages import Added, Interrupted, Moved, Record, Reported, Resumed, Steered
from overtone.core.table import is_redone
from overtone.core.trial import Status
from overtone.journal.codec import Codec
from overtone.journal.plain_reports import PLAIN_REPORT, time_of
from overtone.journal.text import LazyMetrics, loads
from overtone.reading.journal_reader import JournalReader, Reports
from overtone.reading.recorded_goal import inferred_goal, recorded_goal

VERSION = 2
"""Of what a summary holds: the data of another version is not used."""

MOST_NEWEST = 500
"""So many trials' newest reports are kept undecoded: decoding only the last of each is quicker."""

_VALUES = frozenset({int, float, type(None)})
_SHOWN = {status.value: status.shown for status in Status}


class ExperimentSummary:
    """The summary of an experiment up to some line of its journal.

    Args:
        data: The `data` of an earlier summary, to continue from its line.

    Attributes:
        data: The whole state, as JSON data.
    """

    def __init__(self, data: dict[str, Any] | None = None) -> None:
        self.data: dict[str, Any] = data or {
            "offset": 0, "n": 0, "trainable": "", "goal": None, "planned": None, "started": None, "time": 0.0,
            "results": 0, "trials": {}, "is_interrupted": False, "is_finished": False, "runs": 0,
        }  # fmt: skip
        self._newest: dict[bytes, Mapping[str, Any] | bytes] = {}
        self._has_metric = _finder(self.data["goal"])

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> ExperimentSummary:
        """Go on from data that may have been written by anybody.

        Raises:
            ValueError, TypeError, KeyError: It is not the data of a summary.
        """
        for name, value in ExperimentSummary().data.items():
            if value is not None and type(data[name]) is not type(value):
                raise TypeError(f"{name} is {data[name]!r:.100}")
        goal, started, planned = data["goal"], data["started"], data["planned"]
        trials = [[type(name), *map(type, one)] for name, one in data["trials"].items()]
        if any(one[:2] != [str, str] or len(one) != 3 or one[2] not in _VALUES for one in trials):
            raise ValueError("trials that have no status")
        if type(planned) not in (int, type(None)) or type(started) not in _VALUES:
            raise ValueError("a plan or a beginning that is not a number")
        if not all(map(isfinite, (data["time"], started or 0.0))):
            raise ValueError("a time that is not finite")
        if goal is None and any(value is not None for _, value in data["trials"].values()):
            raise ValueError("values of no metric")
        if goal is not None and (len(goal) != 2 or set(map(type, goal)) != {str}):
            raise ValueError("a goal without a metric")
        return cls(data)

    def read(self, journal: Path, progress: Callable[[int], None] | None = None) -> None:
        """Take note of what was recorded since.

        Args:
            progress: Is told how many bytes were read.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        data, decode = self.data, Codec().decode
        reader = JournalReader(journal, data["offset"], data["n"])
        for part in reader.parts():
            if isinstance(part, Reports):
                self._on_reports(part)
            elif (record := decode(part, True)) is not None:
                self._on_record(record)
            else:
                self._on_fact(loads(part.decode() + "}"))
            if progress is not None:
                progress(reader.offset)
        self._take_newest()
        data["offset"], data["n"] = reader.offset, reader.n

    def summary(self) -> dict[str, Any]:
        """Return the facts that `ls` shows, except the current holder and the size of the folder."""
        data = self.data
        statuses: dict[str, int] = {}
        for status, _ in data["trials"].values():
            shown = _SHOWN.get(status, status)
            statuses[shown] = statuses.get(shown, 0) + 1
        metric, mode = data["goal"] or (None, None)
        kept = ("trainable", "planned", "started", "time", "results", "is_interrupted", "is_finished", "runs")
        return {
            **{name: data[name] for name in kept},
            "statuses": statuses,
            "metric": metric,
            "mode": mode,
            "best": self._best(mode),
        }

    def _on_reports(self, reports: Reports) -> None:
        """Count plain reports, and keep the newest of each trial that has the metric."""
        trials, bodies, _ = reports
        if not self.data["results"]:
            self._aim(_metrics(bodies[0]))
        newest = dict(zip(trials, bodies, strict=True))
        if not all(map(self._has_metric, newest.values())):
            newest = {name: one for name, one in zip(trials, bodies, strict=True) if self._has_metric(one)}
        self._newest.update(newest)
        if len(self._newest) > MOST_NEWEST:
            self._take_newest()
        self.data["results"] += len(bodies)
        self.data["time"] = time_of(bodies[-1])

    def _take_newest(self) -> None:
        """Decode the newest reports of trials, and keep their values of the metric."""
        allows = Goal(constraints=self.data.get("constraints") or ()).allows
        for name, one in self._newest.items():
            metrics = _metrics(one) if isinstance(one, bytes) else one
            value = lookup(metrics, self.data["goal"][0])
            if is_number(value):
                is_known = is_finite(value) and allows(metrics)
                self.data["trials"][name.decode()][1] = value if is_known else None
        self._newest.clear()

    def _on_fact(self, facts: dict[str, Any]) -> None:
        """Record that a driver began, that another driver resumed, or that the experiment finished."""
        data, parts = self.data, facts.get("parts")
        data["is_finished"] = facts["e"] == "end"
        if data["is_finished"]:
            return
        data["runs"] += 1
        data["is_interrupted"] = False
        if data["started"] is None and is_number(facts.get("wall")):
            data["started"] = facts["wall"]
        if not isinstance(parts, dict):
            return
        data["trainable"] = str(parts.get("name", ""))
        if isinstance(limits := parts.get("limits"), dict):  # Later limits are in records.
            data["planned"] = limits["total"] if isinstance(limits.get("total"), int) else None
        data["constraints"] = parts.get("constraints")
        metric, mode = recorded_goal(facts)
        if isinstance(metric, str):
            data["goal"] = [metric, mode if mode in ("max", "min") else Goal(metric).mode]
            self._has_metric = _finder(data["goal"])

    def _on_record(self, record: Record) -> None:
        data, event = self.data, record.event
        data["time"] = event.time
        if data["is_finished"]:  # A request without a driver: it waits for a resume.
            data["is_finished"], data["is_interrupted"] = False, True
        if type(event) is Resumed:
            data["planned"] = event.limits.total
        for choice in record.choices:
            if type(choice) is Added:
                data["trials"][choice.trial_id] = [Status.PENDING.value, None]
            elif type(choice) is Moved:
                data["trials"][choice.trial_id][0] = intern(choice.status)
            elif type(choice) is Steered and choice.limits is not None:
                data["planned"] = choice.limits.total
        if type(event) is Reported:
            if not is_redone(record):
                if not data["results"]:
                    self._aim(event.metrics)
                data["results"] += 1
                if data["goal"] is not None and is_number(lookup(event.metrics, data["goal"][0])):
                    self._newest[event.trial_id.encode()] = event.metrics
                    if len(self._newest) > MOST_NEWEST:
                        self._take_newest()
        elif type(event) is Interrupted:
            data["is_interrupted"] = True

    def _aim(self, metrics: Mapping[str, Any]) -> None:
        """Take the goal from the first result where nobody named one, as the run itself does."""
        if self.data["goal"] is None and (found := inferred_goal(metrics))[0] is not None:
            self.data["goal"] = list(found)
            self._has_metric = _finder(self.data["goal"])

    def _best(self, mode: str | None) -> dict[str, Any] | None:
        """Return the trial whose last value is best."""
        best: dict[str, Any] | None = None
        sign = -1.0 if mode == "min" else 1.0
        for trial_id, (_, value) in self.data["trials"].items():
            if value is not None and (best is None or real(value) * sign > real(best["value"]) * sign):
                best = {"trial_id": trial_id, "value": value}
        return best


def _metrics(plain: bytes) -> LazyMetrics:
    found = PLAIN_REPORT.match(plain)
    return LazyMetrics(plain[found.end() :] if found is not None else b"{}")


def _finder(goal: list[str] | None) -> Callable[[bytes], Any]:
    """Return whether a line has the metric, spelled as ASCII or not."""
    if goal is None:
        return lambda body: False
    names = {goal[0].rsplit("/", 1)[-1], goal[0]}
    spelled = {json.dumps(one, ensure_ascii=plain) for one in names for plain in (True, False)}
    return re.compile(b"|".join(sorted(re.escape(one.encode(errors="replace")) for one in spelled))).search
