"""Replay of a finished experiment under another scheduler.

The recorded curves are run again on the simulated engine. If the other scheduler would have continued a
trial beyond its recording, the rest of its curve is unknown. It is then predicted from longer curves
(`continuation`), differently in each of 19 replays. If the truth is like one more draw, it lies
between the least and the greatest of them with a probability of 90 %.

Two more replays show the extremes. In one, each such trial ends with its recording. In the other, it
continues at its mean pace with the best value that any trial recorded, so that it wins every comparison.
It continues to the length of the longest curve or, if no trial finished, to the other scheduler's `max_t`.
A stop in both replays is certain. If the other scheduler changes hyperparameters, there are only these two
replays; a clone continues at its source's pace, and its curve is known while it has its source's
hyperparameters.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from overtone.analysis import RecordedTrial
from overtone.core.protocols import Searcher
from overtone.core.types import Why
from overtone.engines.simulated import Simulated, World
from overtone.errors import OvertoneError
from overtone.research.continuation import Continuation
from overtone.research.horizon import horizon
from overtone.research.recording import Point, RecordedCurve, Recording, Replayed, number

N = TypeVar("N", int, float)

N_REPLAYS = 19
"""With predicted curves."""

COVERAGE = (N_REPLAYS - 1) / (N_REPLAYS + 1)
"""The probability that one more draw lies between the least and the greatest of `N_REPLAYS` draws."""

Pair = tuple[RecordedCurve, RecordedTrial]
"""A recorded curve, and its trial in a replay."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A trial that the other scheduler would have stopped.

    Attributes:
        trial_id, t: Which, and when.
        value: Its metric then; None where it was no number.
        best: The best value that it recorded in the real experiment, which may have come later.
        why: The reason; `cutoff` is a score, where higher is better.
        is_certain: Whether it is stopped there in both replays.
    """

    trial_id: str
    t: int
    value: float | None
    best: float | None
    why: Why
    is_certain: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay.

    Attributes:
        time_s, trial_s, cost: Its length, the time of its trials in sum, the price of its machines.
        n_results: How many results its trials had.
        best, best_trial: The best recorded value that it came to, and which trial had it.
    """

    time_s: float
    trial_s: float
    cost: float
    n_results: int
    best: float | None
    best_trial: str


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The replayed experiment under another scheduler.

    Each of `time_s`, `trial_s`, `n_results` and `found` is an interval, from the least to the greatest of the
    replays in `predicted`. Its ends are equal if no trial continues beyond its recording.

    Attributes:
        metric, mode: The metric and mode by which trials are judged.
        recorded: The recorded experiment.
        cut: One extreme: trials end with their recording.
        extended: The other extreme: trials continue as well as possible; equals `cut` if no trial continues.
        stopped: The trials that would have been stopped, according to `cut`.
        beyond: The trials that would have continued beyond their recording, including `changed`.
        changed: The trials that would have had other hyperparameters, or another trial's checkpoint.
        left_out: The trials without a complete curve.
        n_trials: The number of replayed trials.
        notes: Further reasons for uncertainty.
        predicted: The replays with predicted continuations; only `cut` if no trial continues, and
            `cut` and `extended` if trials would have had other hyperparameters.
    """

    metric: str
    mode: str
    recorded: Replay
    cut: Replay
    extended: Replay
    stopped: list[Stopped]
    beyond: list[str]
    changed: list[str]
    left_out: list[str]
    n_trials: int
    notes: list[str]
    predicted: Sequence[Replay] = ()

    @property
    def is_exact(self) -> bool:
        """Whether everything that the other scheduler needs to know was recorded."""
        return not self.beyond and not self.left_out and not self.notes

    @property
    def time_s(self) -> tuple[float, float]:
        """The seconds that the experiment would have taken."""
        return _ends(one.time_s for one in self.predicted)

    @property
    def trial_s(self) -> tuple[float, float]:
        """The time of its trials in sum."""
        return _ends(one.trial_s for one in self.predicted)

    @property
    def n_results(self) -> tuple[int, int]:
        """The number of results that its trials would have reported."""
        return _ends(one.n_results for one in self.predicted)

    @property
    def found(self) -> tuple[float | None, float | None]:
        """The best value that it would have found: the worst case, and the best; it may also be better than
        any that was recorded, which nothing predicts."""
        known = [one.best for one in self.predicted if one.best is not None]
        if not known:
            return None, None
        return (min(known), max(known)) if self.mode == "max" else (max(known), min(known))


def whatif(
    path: str | os.PathLike[str],
    scheduler: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    world: World | None = None,
) -> WhatIf:
    """Replay the experiment at `path` under `scheduler`; return its costs and best values.

    Args:
        path: A finished experiment's folder, of any engine.
        scheduler: An instance, a class, or a short name.
        metric: The metric to judge by; by default the scheduler's, or else the experiment's.
        mode: "max" or "min"; by default the scheduler's, or else the experiment's.
        world: Machines to use instead of the recorded ones, such as machines with prices.

    Raises:
        StorageError: There is no experiment at `path`.
        OvertoneError: The experiment has no curves that can be replayed, `world` has no machine for a
            trial, or the scheduler adds trials or makes new configs.
    """
    if isinstance(scheduler, Searcher):
        raise OvertoneError(
            f"{type(scheduler).__name__} makes configs of its own, which were never run: only schedulers "
            "that leave this to a searcher can be judged by recorded trials"
        )
    metric, mode = metric or _named(scheduler, "metric"), mode or _named(scheduler, "mode")
    recording = Recording.of(path, metric, mode)
    best, best_trial = recording.best()
    last, unknown = horizon(recording, scheduler)

    def as_good_as_any(curve: RecordedCurve, t: int) -> Point | None:
        return ({recording.metric: best}, curve.step_s) if t <= last else None

    cut, cut_trials = _replay(recording, scheduler, Replayed(recording), world)
    beyond, changed = cut_trials.beyond, cut_trials.changed
    extended, extended_trials, predicted = cut, cut_trials, [cut]
    if beyond:
        extended, extended_trials = _replay(recording, scheduler, Replayed(recording, as_good_as_any), world)
        beyond, changed = beyond | extended_trials.beyond, changed | extended_trials.changed
        if changed:  # nothing that was recorded says what other hyperparameters lead to
            predicted = [cut, extended]
        else:
            ways = [Continuation(recording, last, seed) for seed in range(N_REPLAYS)]
            predicted = [_replay(recording, scheduler, Replayed(recording, way), world)[0] for way in ways]
    certain = {(one.trial_id, one.t) for one in extended_trials.stopped}
    stopped = [
        Stopped(one.trial_id, one.t, one.value, one.best, one.why, (one.trial_id, one.t) in certain)
        for one in cut_trials.stopped
    ]
    order = [one.trial_id for one in recording.curves]
    return WhatIf(
        recording.metric,
        recording.mode,
        Replay(recording.time_s, recording.trial_s, 0.0, recording.n_results, best, best_trial),
        cut,
        extended,
        stopped,
        [one for one in order if one in beyond],
        [one for one in order if one in changed],
        recording.left_out,
        len(order),
        [*recording.notes, *([unknown] if beyond and unknown else [])],
        predicted,
    )


@dataclass(slots=True)
class _Trials:
    """The outcomes of trials in one replay."""

    stopped: list[Stopped]
    beyond: set[str]
    changed: set[str]


def _replay(
    recording: Recording, scheduler: Any, curves: Replayed, world: World | None
) -> tuple[Replay, _Trials]:
    from copy import deepcopy

    from overtone.experiment import Experiment
    from overtone.run import execute

    engine = Simulated(world=world or recording.world)
    with TemporaryDirectory(prefix="overtone_whatif_") as storage:
        analysis = execute(
            Experiment(
                curves,
                space=curves.configs(),
                name="whatif",
                storage=storage,
                metric=recording.metric,
                mode=recording.mode,
                scheduler=deepcopy(scheduler),  # it is run more than once
                resources=curves.resources,
                max_concurrent=recording.max_concurrent if world is None else None,
                max_failures=-1,
                raise_on_failed_trial=False,  # it failed when it was recorded, or never reported the metric
                verbose=0,
                seed=0,
                engine=engine,
                resume=False,
            )
        )
        trials = analysis.trials
        if len(trials) != len(recording.curves):
            raise OvertoneError(
                f"the scheduler made {len(trials)} trials of {len(recording.curves)} recorded ones: one that "
                "adds trials cannot be judged by recorded trials"
            )
        pairs = list(zip(recording.curves, trials, strict=True))
        for curve, trial in pairs:
            if trial.why is not None and trial.why.rule == "infeasible":
                raise OvertoneError(f"{curve.trial_id} could not run in this world: {trial.why.note}")
        changed = {
            curve.trial_id for i, (curve, trial) in enumerate(pairs) if not curves.is_own(trial.config, i)
        }
        changed = changed or curves.otherwise  # a schedule may have returned to its first value
        done = _Trials(list(_stops(recording, pairs)), curves.cut | changed, changed)
        return _summed(recording, engine, pairs), done


def _summed(recording: Recording, engine: Simulated, pairs: list[Pair]) -> Replay:
    sign = 1.0 if recording.mode == "max" else -1.0
    account = engine.account
    seen = [(_best(recording, trial.results()), curve.trial_id) for curve, trial in pairs]
    known = [(sign * value, trial_id) for value, trial_id in seen if value is not None]
    score, trial_id = max(known, default=(None, ""), key=lambda one: one[0] if one[0] is not None else 0.0)
    return Replay(
        account.time_s + recording.lead_s,
        account.trial_s,
        account.cost,
        sum(trial.num_results for _, trial in pairs),
        None if score is None else sign * score,
        trial_id,
    )


def _stops(recording: Recording, pairs: list[Pair]) -> Iterator[Stopped]:
    for curve, trial in pairs:
        why, n = trial.why, trial.num_results
        if why is None or why.rule in ("returned", "max_t") or trial.status == "ERROR" or not n:
            continue
        best = _best(recording, (metrics for metrics, _ in curve.points))
        value = number(trial.last_result, recording.metric)
        yield Stopped(curve.trial_id, n, value, best, why, True)


def _best(recording: Recording, results: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the best value of the metric among results."""
    known = [one for metrics in results if (one := number(metrics, recording.metric)) is not None]
    if not known:
        return None
    return max(known) if recording.mode == "max" else min(known)


def _named(scheduler: Any, attribute: str) -> str | None:
    """Return the goal, where a scheduler names it."""
    given = getattr(scheduler, attribute, None)
    return given if isinstance(given, str) else None


def _ends(found: Iterable[N]) -> tuple[N, N]:
    every = list(found)
    return min(every), max(every)
