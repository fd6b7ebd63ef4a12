"""Where an experiment stands: its best trials, counts, remaining time, and what runs."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from overtone.analysis.scenes.catalogue import useful_plots
from overtone.control.holder import Holder
from overtone.control.overview import CRASHED, DAMAGED, FINISHED, INTERRUPTED, RUNNING, place_of
from overtone.core.trial import Status
from overtone.errors import OvertoneError
from overtone.observers.display.plain_text import duration
from overtone.quantity_text import moment
from overtone.reading.columns.opening import ColumnReader
from overtone.reading.columns.run_facts import RunFacts
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.ui.data.decisions import decisions
from overtone.ui.data.experiment_view import ExperimentView
from overtone.ui.data.listing import damaged_facts, reason_of
from overtone.ui.data.plain_json import plain
from overtone.ui.data.remaining import Remaining

STOPPING = "stopping"
"""The state of an experiment whose driver was asked to stop, and still runs."""

MOST_RUNNING = 64
_SILENT_S = 120.0
_NOTHING: Mapping[str, Any] = {
    "n": 0, "journal": "", "goals": [], "scheduler": None, "searcher": None, "drivers": [], "account": None,
    "slots": {"used": 0, "of": None}, "running": [], "decisions": [], "warnings": [], "plots": [],
    "is_polled": False,
    "limits": {"max_concurrent": None, "num_samples": None, "time_budget_s": None},
    "now": {"clock": 0.0, "time": None, "eta_s": None, "eta": "", "trial_s": 0.0},
}  # fmt: skip
_PLACED = [i for i, status in enumerate(Status) if status.is_placed]
_SHOWN = [status.shown for status in Status]


class Overview:
    """The overview of one experiment, which remembers what its estimates need."""

    def __init__(self, experiment: ExperimentView) -> None:
        self._experiment = experiment
        self._remaining = Remaining()
        self._decisions: tuple[tuple[str, int], list[dict[str, Any]]] | None = None

    def read(self) -> dict[str, Any]:
        """Return the overview.

        Returns:
            The facts of `overtone ls --json` (name, path, state, driver, trainable, trials, planned,
            statuses, results, metric, mode, best, started, duration_s, runs, error), and

            - "id", "n", "journal": see the columns message; "drivers": [seconds since 1970, seconds of the
              run's clock] at the start of each driver
            - "goals": [{"metric", "mode", "best"}]
            - "scheduler", "searcher": class names
            - "slots": {"used", "of"}; "limits": those that can be changed; "account": see
              `ExperimentAnalysis.account`
            - "running": the trials that run: [{"trial_id", "row", "value", "t", "node", "since"}]
            - "decisions": the newest; "warnings": [{"text", "time"}]; "plots": names of useful plots
            - "now": what changes all the time: "clock" (seconds of the run), "time" (seconds since 1970),
              "eta_s" and "eta" (None and "" if unknown), "trial_s" (the sum of the trials' seconds)

            - "is_polled": whether new records are looked for every few seconds

            "duration_s" is the time of the last record, and "state" also `STOPPING`.
        """
        one = self._experiment
        followed = one.followed
        try:
            by = one.driver()
            facts = followed.live(lambda columns, reader: self._facts(columns, reader, by))
        except (OvertoneError, OSError) as error:
            return {"id": one.name, **_NOTHING, **damaged_facts(one.name, error)}
        facts["name"] = one.journal.parent.name
        facts["path"] = place_of(one.journal)
        facts["journal"] = followed.key
        facts["is_polled"] = one.is_polled
        if followed.error:
            facts |= {"state": DAMAGED, "error": followed.error[:1000], "is_resumable": False}
        try:
            facts["decisions"] = self._newest_decisions()
        except (OvertoneError, OSError) as error:
            facts["decisions"] = []
            facts["warnings"].append({"text": reason_of(error), "time": None})
        return plain({"id": one.name, **facts})  # type: ignore[no-any-return]

    def _newest_decisions(self) -> list[dict[str, Any]]:
        """Return the newest decisions, which are read only if there are new ones."""
        followed = self._experiment.followed
        state = followed.key, len(followed.decisions())
        if self._decisions is None or self._decisions[0] != state:
            self._decisions = state, decisions(self._experiment, limit=10)["decisions"]
        return self._decisions[1]

    def _facts(self, columns: TrialColumns, reader: ColumnReader, by: Holder | None) -> dict[str, Any]:
        run = reader.run
        codes = columns.status.values
        by_code = np.bincount(codes, minlength=len(_SHOWN)).tolist()
        statuses: dict[str, int] = {}
        for shown, count in zip(_SHOWN, by_code, strict=True):
            if count:
                word = "INTERRUPTED" if shown == "RUNNING" and by is None else shown
                statuses[word] = statuses.get(word, 0) + count
        clock = _clock(run, reader.time, by)
        goals = [{"metric": metric, "mode": mode, "best": best_of(columns, metric, mode)}
                 for metric, mode in columns.goals]  # fmt: skip
        placed = np.flatnonzero(np.isin(codes, _PLACED)) if by is not None else np.zeros(0, np.int64)
        eta = self._remaining.seconds(columns, run, reader.parts, clock) if by is not None else None
        n_placed = len(placed)
        return {
            "n": columns.n_records,
            "state": _state(run, by),
            "is_resumable": by is None and not run.is_finished,
            "driver": None if by is None else
                {"pid": by.pid, "hostname": by.hostname, "since": moment(by.since)},
            "trainable": run.trainable,
            "scheduler": _part(reader.parts, "scheduler"),
            "searcher": _part(reader.parts, "searcher"),
            "trials": len(columns),
            "planned": run.total,
            "statuses": statuses,
            "results": int(columns.n_results.sum()),
            "goals": goals,
            "metric": goals[0]["metric"] if goals else None,
            "mode": goals[0]["mode"] if goals else None,
            "best": goals[0]["best"] if goals else None,
            "started": moment(run.started),
            "duration_s": reader.time,
            "drivers": run.drivers,
            "runs": len(run.drivers),
            "error": None,
            "slots": {"used": n_placed, "of": slots(run, n_placed)},
            "account": self._account(run),
            "limits": {"max_concurrent": run.max_concurrent, "num_samples": run.total,
                       "time_budget_s": run.time_budget_s},
            "running": _running(columns, placed),
            "warnings": [*({"text": text, "time": at} for _, at, text in run.warnings),
                         *self._silence(by, n_placed)],
            "plots": useful_plots(columns),
            "now": {
                "clock": clock, "time": time.time(), "eta_s": eta,
                "eta": "" if eta is None else f"about {duration(eta)} left",
                "trial_s": _trial_seconds(columns, clock),
            },
        }  # fmt: skip

    def _account(self, run: RunFacts) -> dict[str, float] | None:
        from overtone.analysis.cost_report import recorded_account

        return recorded_account(self._experiment.journal) if run.is_finished else None

    def _silence(self, by: Holder | None, n_placed: int) -> list[dict[str, Any]]:
        """Return a warning if trials run, and nothing was recorded for long."""
        if by is None or not n_placed:
            return []
        try:
            silent_s = time.time() - os.stat(self._experiment.journal).st_mtime
        except OSError:
            return []
        if silent_s < _SILENT_S:
            return []
        text = f"Driver silent for {duration(silent_s)}: no trial has reported since. It is {by}."
        return [{"text": text, "time": None}]


def _part(parts: Mapping[str, Any], name: str) -> str | None:
    """Return the class name of a part of the run; None if it has none."""
    part = parts.get(name)
    path = part.get("path") if isinstance(part, dict) else part
    return path.rsplit(".", 1)[-1] if isinstance(path, str) else None


def best_of(columns: TrialColumns, metric: str, mode: str) -> dict[str, Any] | None:
    """Return the trial with the best last value, as `ExperimentAnalysis.best_trial`; None without one."""
    found = columns.metrics.get(metric)
    if found is None or not len(columns):
        return None
    is_ranked = ~np.isnan(found.last) & columns.allowed
    if found.is_finite is not None:
        is_ranked &= found.is_finite
    rows = np.flatnonzero(is_ranked)
    if not len(rows):
        return None
    values = found.last[rows]
    row = int(rows[values.argmin() if mode == "min" else values.argmax()])
    return {
        "trial_id": columns.ids[row], "row": row, "value": float(found.last[row]), "scope": "last",
        "best_value": float(found.best(mode)[row]), "best_iteration": int(found.best_t(mode)[row]),
    }  # fmt: skip


def slots(run: RunFacts, n_used: int) -> int | None:
    """Return how many trials of the newest demand can run at the same time; None if unknown."""
    counts = []
    if run.max_concurrent is not None:
        counts.append(int(run.max_concurrent))
    demand: dict[str, float] = {}
    for bundle in run.demand:
        for name, amount in bundle.items():
            demand[name] = demand.get(name, 0.0) + amount
    needed = {name: amount for name, amount in demand.items() if amount > 0}
    if run.nodes and needed:
        nodes = list(run.nodes.values())
        if len(run.demand) > 1:  # the parts of one trial may lie on several nodes
            names = {name for node in nodes for name in node}
            nodes = [{name: sum(node.get(name, 0.0) for node in nodes) for name in names}]
        counts.append(sum(
            int(min(node.get(name, 0.0) / amount for name, amount in needed.items()) + 1e-9) for node in nodes
        ))  # fmt: skip
    return max(min(counts), n_used) if counts else None


def _state(run: RunFacts, by: Holder | None) -> str:
    if by is not None:
        return STOPPING if run.is_stopping or run.is_interrupted else RUNNING
    if run.is_finished:
        return FINISHED
    return INTERRUPTED if run.is_interrupted else CRASHED


def _clock(run: RunFacts, last: float, by: Holder | None) -> float:
    """Return the seconds that the experiment has run, up to now if it runs."""
    if by is None or not run.drivers:
        return last
    wall, before = run.drivers[-1]
    return max(last, before + time.time() - wall)


def _trial_seconds(columns: TrialColumns, clock: float) -> float:
    started = np.isfinite(columns.started)
    end = np.where(np.isfinite(columns.ended), columns.ended, clock)
    return float((end - columns.started)[started].sum())


def _running(columns: TrialColumns, placed: Any) -> list[dict[str, Any]]:
    """Return the trials that run, those that started last first."""
    metric = columns.metrics.get(columns.goals[0][0]) if columns.goals else None
    order = placed[np.argsort(-columns.started[placed], kind="stable")][:MOST_RUNNING].tolist()
    nodes = columns.node.levels or ()
    found = []
    for row in order:
        code, started = int(columns.node.values[row]), float(columns.started[row])
        value = float("nan") if metric is None else float(metric.last[row])
        found.append({
            "trial_id": columns.ids[row], "row": row, "t": int(columns.n_results[row]),
            "value": value if np.isfinite(value) else None,
            "node": nodes[code] if code >= 0 else None,
            "since": started if np.isfinite(started) else None,
        })  # fmt: skip
    return found
