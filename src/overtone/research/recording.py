"""Recorded curves of a finished experiment, on which other schedulers can be run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from overtone.analysis import ExperimentAnalysis, RecordedTrial
from overtone.analysis.aim import chosen
from overtone.core.messages import Ended, Moved, Reported, Resumed, Started
from overtone.core.resources import Resources
from overtone.engines.simulated import Machines, World
from overtone.errors import GoalError, OvertoneError
from overtone.store.folder_mark import JOURNAL

Point = tuple[dict[str, Any], float]

_NOT_OF_USERS = frozenset({
    "training_iteration", "time_this_iter_s", "time_total_s", "timestamp", "date", "iterations_since_restore",
    "time_since_restore", "done", "trial_id", "experiment_tag", "pid", "hostname", "node_ip", "config",
})  # fmt: skip
_BY_ITSELF = frozenset({"returned", "stop"})
"""Reasons for an end that do not depend on the scheduler: the trial returned, or met a stop criterion."""

NUMBER = "_recorded"
"""The key in a replayed config for the number of its curve."""


@dataclass(slots=True)
class RecordedCurve:
    """The recorded curve of one trial.

    Attributes:
        trial_id: The id of the trial.
        resources: The requested resources.
        config: The hyperparameters.
        points: The metrics and the seconds of each iteration, beginning with the first.
        is_whole: Whether the trial finished, so that the curve has no continuation.
    """

    trial_id: str
    resources: Resources
    config: dict[str, Any] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    is_whole: bool = False

    @property
    def step_s(self) -> float:
        """The mean time of an iteration."""
        return fmean(seconds for _, seconds in self.points) if self.points else 0.0


@dataclass(slots=True)
class Recording:
    """An experiment's curves and the world in which they were recorded.

    Attributes:
        curves: The curves, in the order in which the trials were created.
        left_out: Trials whose curve has no beginning: they cloned another trial's checkpoint,
            or reported nothing.
        metric, mode: The goal of the experiment.
        world: The machines, with their times for starting and answering.
        max_concurrent: Maximum number of trials that ran at the same time, if it was set.
        lead_s: Seconds until the first trial ran, in addition to the time of starting it.
        time_s, trial_s, n_results: Seconds of the experiment, sum of its trials' seconds, number of results.
        notes: Reasons why a replay is uncertain.
    """

    curves: list[RecordedCurve]
    left_out: list[str]
    metric: str
    mode: str
    world: World
    max_concurrent: int | None
    lead_s: float
    time_s: float
    trial_s: float
    n_results: int
    notes: list[str]

    @classmethod
    def of(
        cls, path: str | os.PathLike[str], metric: str | None = None, mode: str | None = None
    ) -> Recording:
        """Return the recording in an experiment's folder.

        Raises:
            StorageError: There is none.
            OvertoneError: Nothing in it can be replayed.
        """
        analysis = ExperimentAnalysis(path, metric, mode)
        goal = (analysis.default_metric, analysis.default_mode)
        name, direction = chosen(metric, mode, goal, (one.last_result for one in analysis.trials))
        curves, left_out = [], []
        n_open = sum(not one.is_finished() for one in analysis.trials)
        for trial in analysis.trials:
            made = _curve(trial)
            if made.points:
                curves.append(made)
            else:
                left_out.append(trial.trial_id)
        if not curves:
            raise OvertoneError(f"{path} has no trial whose curve begins at training_iteration 1")
        paces = _Paces(Path(analysis.experiment_path) / JOURNAL)
        options = analysis.runner_data().get("parts", {}).get("options", {})
        notes = []
        if options.get("time_budget_s"):
            notes.append(
                f"the experiment had a time budget of {options['time_budget_s']:g} s: another scheduler "
                "might have tried more trials within it, of which nothing is known"
            )
        if n_open:
            notes.append(
                f"the experiment has not ended ({n_open} of its {len(analysis.trials)} trials are open): "
                "what is still to come is not known"
            )
        return cls(
            curves=curves,
            left_out=left_out,
            metric=name,
            mode=direction,
            world=paces.world(),
            max_concurrent=options.get("max_concurrent") or None,
            lead_s=paces.lead_s,
            time_s=analysis.stats()["total_time"],
            trial_s=paces.trial_s,
            n_results=sum(one.num_results for one in analysis.trials),
            notes=notes,
        )

    def best(self) -> tuple[float, str]:
        """Return the best value that any trial recorded, and which did.

        Raises:
            GoalError: None reported the metric.
        """
        sign = 1.0 if self.mode == "max" else -1.0
        found = [
            (sign * value, one.trial_id)
            for one in self.curves
            for metrics, _ in one.points
            if (value := number(metrics, self.metric)) is not None
        ]
        if not found:
            known = sorted({name for one in self.curves for metrics, _ in one.points for name in metrics})
            raise GoalError(
                f"no trial that can be replayed reported {self.metric!r} as a number: there is "
                f"{', '.join(known)}"
            )
        score, trial_id = max(found, key=lambda pair: pair[0])
        return sign * score, trial_id


def number(metrics: Mapping[str, Any], name: str) -> float | None:
    """Return the metric, where it is a number other than NaN."""
    from overtone.core.goal import lookup

    value = lookup(metrics, name)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
    return float(value) if is_number else None


def _curve(trial: RecordedTrial) -> RecordedCurve:
    """Return a trial's curve, up to where its config was changed or an iteration is missing."""
    made = RecordedCurve(trial.trial_id, trial.resources)
    config = None
    for result in trial.results():
        t = result.get("training_iteration")
        if config is None:
            config = made.config = dict(result["config"])
        if t != len(made.points) + 1 or result["config"] != config:
            return made
        kept = {
            name: value for name, value in result.items() if name not in _NOT_OF_USERS and value is not None
        }
        seconds = result.get("time_this_iter_s")
        made.points.append((kept, float(seconds) if isinstance(seconds, (int, float)) else 0.0))
    rule = trial.why.rule if trial.why is not None else ""
    made.is_whole = trial.is_finished() and (trial.status == "ERROR" or rule in _BY_ITSELF)
    return made


class _Paces:
    """Times that the recorded world took to start, answer and end trials."""

    def __init__(self, journal: Path) -> None:
        from overtone.journal.reader import Reader

        starts: list[float] = []
        answers: list[float] = []
        ends: list[float] = []
        asked: dict[str, float] = {}
        last: dict[str, float] = {}
        self._nodes: Mapping[str, Mapping[str, float]] = {}
        self.lead_s = self.trial_s = 0.0
        first: float | None = None
        newest = 0.0

        def lose_all() -> None:
            """Trials that have a process ran until now: nobody says when they ended."""
            self.trial_s += sum(newest - since for since in asked.values())
            asked.clear()
            last.clear()

        for record in Reader(journal):
            event = record.event
            if isinstance(event, Resumed):
                lose_all()
            newest = event.time
            trial_id = getattr(event, "trial_id", "")
            if getattr(event, "nodes", None):
                self._nodes = event.nodes  # type: ignore[union-attr]
            if isinstance(event, Started):
                first = event.time if first is None else first
            elif isinstance(event, Reported):
                spent_s = event.metrics.get("time_this_iter_s")
                if isinstance(spent_s, (int, float)):
                    if trial_id in last:
                        answers.append(max(0.0, event.time - last[trial_id] - spent_s))
                    elif trial_id in asked:
                        starts.append(max(0.0, event.time - asked[trial_id] - spent_s))
                last[trial_id] = event.time
            elif isinstance(event, Ended):
                if trial_id in last:
                    ends.append(max(0.0, event.time - last.pop(trial_id)))
                self.trial_s += event.time - asked.pop(trial_id, event.time)
            for choice in record.choices:
                if isinstance(choice, Moved) and choice.status == "STARTING":
                    asked[choice.trial_id] = event.time
        lose_all()
        # a place is free again only when the trial before has ended: that is part of the next one's start
        self._start_s = _median(starts) + _median(ends)
        self._answer_s = _median(answers)
        if first is not None:
            self.lead_s = max(0.0, first - self._start_s)

    def world(self) -> World:
        """Return the machines that there were, at these paces."""
        machines = [
            Machines(
                1, amounts.get("cpu", 0.0), name, resources={n: a for n, a in amounts.items() if n != "cpu"}
            )
            for name, amounts in self._nodes.items()
        ]
        return World(machines or [Machines()], start_s=self._start_s, decision_s=self._answer_s)


def _others(amounts: Mapping[str, float]) -> dict[str, float]:
    return {name: amount for name, amount in amounts.items() if name != "cpu"}


def _median(found: list[float]) -> float:
    return median(found) if found else 0.0


class Replayed:
    """The curves as a trainable of the simulated engine; a config contains the number of its curve.

    Args:
        recording: The recorded curves.
        beyond: Returns the continuation from (curve, t), after a curve that was cut short and for
            other hyperparameters than the recorded ones; None if the trial just ends there.

    Attributes:
        cut: The trials that ran beyond the end of their curves.
        otherwise: The trials that ran with other hyperparameters than the recorded ones.
    """

    __name__ = "whatif"

    def __init__(
        self, recording: Recording, beyond: Callable[[RecordedCurve, int], Point | None] | None = None
    ) -> None:
        self._recording, self._beyond = recording, beyond
        self.cut: set[str] = set()
        self.otherwise: set[str] = set()

    def configs(self) -> list[dict[str, Any]]:
        """Return each curve's config, with its number."""
        return [{**one.config, NUMBER: i} for i, one in enumerate(self._recording.curves)]

    def resources(self, config: Mapping[str, Any]) -> Resources:
        """Return the demand of the trial whose curve a config names."""
        return self._recording.curves[self._number(config)].resources

    def is_own(self, config: Mapping[str, Any], number: int) -> bool:
        """Return whether the config is the one with which this curve was recorded."""
        return config == {**self._recording.curves[number].config, NUMBER: number}

    def curve_of(self, config: Mapping[str, Any]) -> Callable[[int], Point | None]:
        """From an iteration to what was recorded.

        Raises:
            OvertoneError: The scheduler made a config that comes from none that was run.
        """
        number = self._number(config)
        curve, is_own = self._recording.curves[number], self.is_own(config, number)

        def at(t: int) -> Point | None:
            if is_own and t <= len(curve.points):
                return curve.points[t - 1]
            if is_own and curve.is_whole:
                return None
            (self.cut if is_own else self.otherwise).add(curve.trial_id)
            return self._beyond(curve, t) if self._beyond is not None else None

        return at

    def _number(self, config: Mapping[str, Any]) -> int:
        """Return the number of the curve in a config."""
        number = config.get(NUMBER)
        if type(number) is not int or not 0 <= number < len(self._recording.curves):
            raise OvertoneError(
                f"the scheduler made the config {dict(config)!r:.200}, which was never run, so that there "
                "is no curve of it: one that makes configs of its own cannot be judged by recorded trials"
            )
        return number

    def __call__(self, config: Mapping[str, Any], t: int) -> Point | None:
        return self.curve_of(config)(t)
