"""All about one trial: its config, its story, its checkpoints, and from whom it descends."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from overtone.analysis.recorded_trial import RecordedTrial
from overtone.control.overview import status_now
from overtone.core import messages as m
from overtone.core.types import Why, cause_of_end
from overtone.errors import StorageError
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.index_on_demand import IndexOnDemand
from overtone.reading.story_text import clock_of, competition, sentence, unruled, verdict
from overtone.reading.trial_story import Story, StoryStep
from overtone.space.nesting import flatten
from overtone.ui.data.decisions import facts_of
from overtone.ui.data.experiment_view import ExperimentView
from overtone.ui.data.overview import best_of
from overtone.ui.data.plain_json import plain

LONGEST_TRACEBACK = 100_000


def trial_page(experiment: ExperimentView, trial_id: str) -> dict[str, Any]:
    """Return all about a trial.

    Returns:
        - "id", "row", "n", "name", "status", "end", "verdict", "note" (nobody ruled on it), "why"
        - "config": nested; "params": flattened, [{"name", "value", "best", "differs"}], those that differ
          from the best trial first; "best": the best trial or None
        - "metric", "mode", "value", "best_value", "best_iteration", "results", "last_result", "failures"
        - "story": [{"n", "time", "t", "kind", "text", "lines", "decision", "rung", "rank", "of", "value",
          "cutoff", "source", "note", "bracket", "rule"}]
        - "attempts": [{"attempt", "node", "pid", "started", "ended", "cause", "error", "restored"}]
        - "checkpoints": [{"name", "t", "bytes", "exists", "is_automatic"}], oldest first
        - "lineage": {"from": [...], "to": [...]}, each {"trial_id", "row", "t", "source_t", "changes"}
        - "error", "traceback", "resources"
    """
    is_running = experiment.driver() is not None
    with experiment.index() as index:
        columns = experiment.followed.columns()
        trial = RecordedTrial(trial_id, index)
        metric, mode = next(iter(columns.goals), (None, None))
        status = status_now(trial.status, is_running)
        standings = experiment.standings(index, metric, mode)
        story = Story(index, trial_id, metric, mode, clock_of(index.header), standings)
        for step in story.steps:
            step.text = step.text or sentence(step, metric)
        best = None if metric is None or mode is None else best_of(columns, metric, mode)
        config = plain(trial.config)
        best_config = None
        if best is not None:
            best_config = flatten(RecordedTrial(best["trial_id"], index).config)
        row = columns.ids.index(trial_id)
        own = columns.metrics.get(metric or "")
        has_best = own is not None and own.best(mode or "max")[row] == own.best(mode or "max")[row]
        return _plain(
            {
                "id": trial_id,
                "row": row,
                "n": columns.n_records,
                "name": str(trial),
                "status": status,
                "end": _end(trial),
                "verdict": verdict(story, trial_id, status),
                "note": unruled(story, status),
                "why": _why(trial.why),
                "config": config,
                "params": _params(flatten(trial.config), best_config),
                "best": best,
                "metric": metric,
                "mode": mode,
                "value": None if metric is None else trial.value(metric),
                "best_value": float(own.best(mode or "max")[row]) if own is not None and has_best else None,
                "best_iteration": int(own.best_t(mode or "max")[row])
                if own is not None and has_best
                else None,
                "results": trial.num_results,
                "last_result": flatten({**trial.last_result, "config": None}),
                "failures": trial.num_failures,
                "story": [_step(step, trial_id) for step in story.steps],
                "attempts": _attempts(index, trial_id),
                "checkpoints": _checkpoints(trial),
                "lineage": _lineage(columns, row),
                "error": trial.error,
                "traceback": _cut(trial.traceback),
                "resources": [dict(one) for one in trial.resources.bundles],
            }
        )


def _plain(page: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = plain(page)
    return found


def _end(trial: RecordedTrial) -> str | None:
    if not trial.is_finished():
        return None
    return "failed" if trial.status == "ERROR" else cause_of_end(trial.why)


def _why(why: Why | None) -> dict[str, Any] | None:
    if why is None:
        return None
    names = ("rule", "t", "rung", "cutoff", "rank", "of", "against", "note", "bracket")
    return {name: getattr(why, name) for name in names}


def _params(own: Mapping[str, Any], best: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    names = list(dict.fromkeys([*own, *(best or {})]))
    found = []
    for name in names:
        differs = best is not None and (
            (name in own) != (name in best) or repr(own.get(name)) != repr(best.get(name))
        )
        cells: dict[str, Any] = {"name": name, "value": own.get(name), "differs": differs}
        if best is not None:
            cells["best"] = best.get(name)
        found.append(cells)
    return sorted(found, key=lambda one: not one["differs"])


def _step(step: StoryStep, trial_id: str) -> dict[str, Any]:
    return {
        **{name: getattr(step, name) for name in ("n", "time", "t", "kind", "decision")},
        **facts_of(step),
        "text": step.text,
        "rung": None if step.why is None else step.why.rung,
        "rule": None if step.why is None else step.why.rule or None,
        "lines": competition(step, trial_id),
    }


def _attempts(index: IndexOnDemand, trial_id: str) -> list[dict[str, Any]]:
    """Return the trial's processes, oldest first."""
    found: list[dict[str, Any]] = []
    for record in index.records(trial_id):
        event = record.event
        if isinstance(event, m.Started) and event.trial_id == trial_id:
            restored = event.restored
            found.append({
                "attempt": event.attempt, "node": event.hostname or event.node, "pid": event.pid,
                "started": event.time, "ended": None, "cause": None, "error": "",
                "restored": None if restored is None else {"trial_id": restored.trial_id, "t": restored.t},
            })  # fmt: skip
        elif isinstance(event, m.Ended) and event.trial_id == trial_id and found:
            found[-1] |= {"ended": event.time, "cause": event.cause, "error": event.error}
        elif isinstance(event, m.Resumed) and found and found[-1]["ended"] is None:
            found[-1] |= {"cause": "driver ended"}
    return found


def _checkpoints(trial: RecordedTrial) -> list[dict[str, Any]]:
    found = []
    for one in trial.references():
        name = one.uri.rstrip("/").rpartition("/")[2]
        found.append({
            "name": name, "t": one.t, "bytes": one.size_bytes or None, "exists": _exists(trial, one),
            "is_automatic": one.is_automatic,
        })  # fmt: skip
    return found


def _exists(trial: RecordedTrial, reference: Any) -> bool | None:
    """Return whether a checkpoint is there; None for one in a store elsewhere."""
    try:
        path = trial.opened(reference).path
    except StorageError:
        return False
    return None if "://" in path else os.path.exists(path)


def _lineage(columns: TrialColumns, row: int) -> dict[str, list[dict[str, Any]]]:
    """Return from whom the trial went on, and who went on from it."""
    children = [int(one) for one in (columns.source == row).nonzero()[0].tolist() if one != row]
    own = columns.exploits([row]) if columns.source[row] >= 0 else []
    others = [one for one in (columns.exploits(children) if children else []) if one.source == row]
    return {
        "from": [_exploit(columns, one, one.source) for one in own],
        "to": [_exploit(columns, one, one.row) for one in others],
    }


def _exploit(columns: TrialColumns, one: Any, other: int) -> dict[str, Any]:
    names: Sequence[str] = list(dict.fromkeys([*one.before, *one.after]))
    changes = [
        {"name": name, "before": one.before.get(name), "after": one.after.get(name)}
        for name in names
        if repr(one.before.get(name)) != repr(one.after.get(name))
    ]
    return {
        "trial_id": columns.ids[other], "row": other, "t": one.t, "source_t": one.source_t,
        "changes": changes,
    }  # fmt: skip


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TRACEBACK:
        return text
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
