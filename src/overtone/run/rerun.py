"""Runs one trial of an experiment again, and compares its results with the recorded ones."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.core.goal import OWN_FIELDS, is_number, lookup
from overtone.core.messages import Added, Ruled
from overtone.errors import OvertoneError
from overtone.experiment import Experiment
from overtone.run.header.journal_setup import codec_for
from overtone.run.resume.target import RERUN, RERUN_INFIX, count_in_process, header_of, of_last_time
from overtone.run.storage.location import locate, root_of
from overtone.standard_streams import say
from overtone.worker.trainables.with_parameters import as_bound, trainable_name

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis, RecordedTrial

MOST_SHOWN = 20
"""Maximum number of iterations in the table."""

Execute = Callable[[Experiment], "ExperimentAnalysis"]


def run_again(experiment: Experiment, execute: Execute) -> ExperimentAnalysis:
    """Run the requested trial again if `experiment` is its experiment, and end the script.

    Returns:
        The recorded results of another experiment of the script.

    Raises:
        SystemExit: The trial ran again; the comparison is printed.
        OvertoneError: The script did not run this experiment when it was recorded.
    """
    from overtone.analysis import ExperimentAnalysis
    from overtone.space import decode_config, encode_config, parse

    name = trainable_name(as_bound(experiment.trainable))
    target = json.loads(os.environ[RERUN])
    folder = locate(target["path"])
    header, space = header_of(folder), parse(experiment.space)
    is_again = "rerun_of" in header  # A rerun of a rerun repeats the first experiment.
    repeated = header["rerun_of"] if is_again else header
    here = of_last_time(folder, root_of(experiment.storage), experiment.name, count_in_process(), repeated)
    if here is None:
        raise OvertoneError(f"overtone rerun: the script did not run {experiment.name or name} last time")
    if here.absolute() != folder.absolute():
        return ExperimentAnalysis(here)
    recorded = ExperimentAnalysis(folder, codec=None if is_again else codec_for(space))
    trial = next(one for one in recorded.trials if one.trial_id == target["trial_id"])
    config, changed_at = _first_config(trial)
    if is_again:
        config = decode_config(space, repeated["config"])
    then: Sequence[Mapping[str, Any]] = list(trial.results())
    if changed_at is not None:
        then = _until(then, changed_at)
        say(f"trial {trial.trial_id} got another configuration at iteration {changed_at}, and ends there")
    last = then[-1]["training_iteration"] if then else 1
    origin = {name: repeated[name] for name in ("called", "nth", "pid", "hostname") if name in repeated}
    origin["index"] = repeated.get("index", trial.index)
    origin["config"] = encode_config(space, config)
    run = again_of(experiment, folder, trial, config, last, int(header["seed"]), origin)
    say(f"running trial {trial.trial_id} of {folder} again, until iteration {last}")
    (again,) = execute(run).trials
    names = [recorded.default_metric] if isinstance(recorded.default_metric, str) else None
    for line in compared(then, list(again.results()), names):
        print(line)  # noqa: T201
    raise SystemExit(0)


def again_of(
    experiment: Experiment,
    folder: Path,
    trial: RecordedTrial,
    config: Mapping[str, Any],
    last: int,
    seed: int,
    origin: Mapping[str, Any],
) -> Experiment:
    """Return the experiment that runs one trial of `experiment` again, with the same seed.

    Args:
        config: The config that the trial began with.
        last: The iteration at which it ends.
        origin: See `Experiment.rerun_of`.
    """
    return replace(
        experiment, space=dict(config), searcher=None, scheduler=None, num_samples=1, points_to_evaluate=(),
        warm_start=(), time_budget_s=None, callbacks=(), resume=False, seed=seed, rerun_of=origin,
        name=f"{folder.name}{RERUN_INFIX}{trial.trial_id}", stop={"training_iteration": last},
        raise_on_failed_trial=False,
    )  # fmt: skip


def _first_config(trial: RecordedTrial) -> tuple[dict[str, Any], int | None]:
    """Return the config that the trial began with, and the iteration at which it got another one."""
    from overtone.analysis.recorded_trial import index_of

    config: Mapping[str, Any] = trial.config
    for record in index_of(trial).records(trial.trial_id):
        for choice in record.choices:
            if isinstance(choice, Added) and choice.trial_id == trial.trial_id:
                config = choice.config
            elif isinstance(choice, Ruled) and choice.trial_id == trial.trial_id and choice.config:
                return dict(config), int(choice.t)
    return dict(config), None


def _until(results: Sequence[Mapping[str, Any]], t: int) -> Sequence[Mapping[str, Any]]:
    """Return the results up to the first of iteration `t`; a trial may have iterations twice."""
    end = next((i for i, one in enumerate(results, 1) if one["training_iteration"] >= t), len(results))
    return results[:end]


def compared(
    then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]], metrics: Sequence[str] | None = None
) -> Iterator[str]:
    """Yield lines that compare two curves.

    Args:
        then, now: Results, oldest first.
        metrics: The metrics to compare; by default all numbers that the trial reported itself.
    """
    if not then or not now:
        yield f"nothing to compare: {len(then)} recorded results, and {len(now)} of the rerun"
        return
    by_t = {one["training_iteration"]: one for one in now}
    for name in metrics or _own_metrics(then[-1]):
        pairs = [
            (one["training_iteration"], lookup(one, name), lookup(by_t[one["training_iteration"]], name))
            for one in then
            if one["training_iteration"] in by_t
        ]
        yield from _compared(name, pairs)
    if len(now) != len(then):
        yield f"{len(then)} results were recorded, and the rerun has {len(now)}"


def _compared(name: str, pairs: Sequence[tuple[int, Any, Any]]) -> Iterator[str]:
    gaps = [(_gap(before, after), t, before, after) for t, before, after in pairs]
    others = [one for one in gaps if one[0] > 0]
    if not others:
        where = f"all {len(pairs)} iterations" if len(pairs) > 1 else "the one iteration"
        yield f"{name}: identical at {where}"
        return
    gap, t, before, after = max(others, key=lambda one: one[0])
    yield (
        f"{name}: differs at {len(others)} of {len(pairs)} iterations, first at {others[0][1]}; most at {t}: "
        f"{_shown(before)} was recorded, now {_shown(after)}"
    )
    yield f"{'iteration':>9}  {'recorded':>12}  {'rerun':>12}  {'difference':>12}"
    step = max(1, math.ceil(len(pairs) / MOST_SHOWN))
    kept = [*pairs[: len(pairs) - 1 : step], pairs[-1]]
    for t, before, after in kept:
        gap = _gap(before, after)
        yield f"{t:>9}  {_shown(before):>12}  {_shown(after):>12}  {_shown(gap):>12}"


def _gap(before: Any, after: Any) -> float:
    if not is_number(before) or not is_number(after):
        return 0.0 if before == after else math.inf
    if before == after or (before != before and after != after):
        return 0.0
    gap = abs(before - after)
    return gap if gap == gap else math.inf


def _shown(value: Any) -> str:
    return f"{value:.6g}" if is_number(value) else str(value)[:12]


def _own_metrics(result: Mapping[str, Any]) -> list[str]:
    return [name for name, one in result.items() if is_number(one) and name not in OWN_FIELDS]
