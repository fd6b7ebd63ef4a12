"""Composition: from a user's experiment to its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from overtone.core.controller import Controller
from overtone.core.goal import Goal, lookup, real
from overtone.core.limits import Limits
from overtone.core.protocols import Engine, Observer, Searcher, TrialScheduler
from overtone.core.randomness import Random
from overtone.core.retention import Retention
from overtone.core.trial_template import Template, equal
from overtone.core.types import WORST, Config, Result
from overtone.errors import OvertoneError, TrainableError
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.run.acquire import acquire, make_room
from overtone.run.algorithms import found_at, learns, scheduler_for, searcher_for, total_of
from overtone.run.demand import resources_for
from overtone.run.engine_choice import check_options, engine_for
from overtone.run.header.journal_setup import codec_for, reopened
from overtone.run.parts import Parts, Past
from overtone.run.resume.target import count_in_process, header_of, wish
from overtone.run.warm_start import warm
from overtone.worker.trainables.with_parameters import as_bound, trainable_name

if TYPE_CHECKING:
    from overtone.observers.display.console import Console
    from overtone.observers.display.silent import SilentConsole
    from overtone.observers.table_keeper import TableKeeper


def compose(experiment: Experiment) -> Parts:
    """Return the parts of `experiment`, whose folder is taken: only this driver writes there.

    Parts that do not depend on the folder are created before it is taken, so that most invalid
    experiments leave no trace.

    Raises:
        OvertoneError, ValueError, TypeError: The experiment is invalid; the message says why. The
            folder is released, and its new contents are removed.
    """
    bound = as_bound(experiment.trainable)
    name = trainable_name(bound.trainable)
    engine, why_engine = engine_for(experiment.engine)
    if not engine.capabilities.repeats and _is_curve(bound.trainable, bound.parameters):
        raise TrainableError(
            f"{name} is a curve, which is not run but followed, on a virtual clock: give "
            "engine=tune.Simulated(workers=4). A trainable that runs has no argument t"
        )
    check_options(bound, engine)
    scheduler = scheduler_for(experiment.scheduler)
    searcher, space = searcher_for(experiment, scheduler)
    goal = Goal.collect(
        [
            ("the call", experiment.metric, experiment.mode),
            ("the scheduler", scheduler.metric, scheduler.mode),
            ("the searcher", searcher.metric, searcher.mode),
        ],
        time_attr=scheduler.time_attr,
        is_needed=scheduler.needs_metric,
        constraints=experiment.constraints,
    )
    from overtone.space import parse
    from overtone.stoppers import stop

    stoppers = stop(experiment.stop, goal.metric, goal.mode)
    space = parse(space)  # once, for all who read configs by it
    searcher.goal = goal
    if space.constraint is not None and not searcher.takes_constraint:
        raise OvertoneError(
            f"{type(searcher).__name__} cannot keep to the constraint of the space: use random search, "
            'search_alg="sobol" or search_alg="auto", or leave the constraint out'
        )
    asked, nth, now = wish(experiment.resume), count_in_process(), datetime.now()
    isolates, patience_s = engine.capabilities.isolates, experiment.storage_patience_s
    place = acquire(experiment.storage, experiment.name, name, now, asked, nth, isolates, patience_s)
    try:
        header = header_of(place.folder) if place.goes_on else {}
        seed = experiment.seed if experiment.seed is not None else Random().getrandbits(32)
        seed = header.get("seed", seed)  # what was drawn must be drawn again
        searcher.on_start(space, seed)
        recorded = header.get("earlier", () if header else None)
        earlier, earlier_line = warm(experiment.warm_start, searcher, space, goal, recorded, learns)
        demand, resources = resources_for(
            experiment.resources if experiment.resources is not None else bound.resources, bound.trainable
        )
        limits = _limits(experiment, searcher, scheduler, stoppers, engine)
        first = header.get("parts", {}).get("limits")
        controller = Controller(
            scheduler,
            goal,
            stoppers=stoppers,
            limits=Limits.of(first) if first is not None else limits,
            template=Template(resources, _tagger(space), experiment.priority or equal, experiment.trial_name),
            retention=Retention(experiment.checkpoints.keep, experiment.checkpoints.most_bytes),
            checkpoint_worth=_worth(experiment.checkpoints),
            seed=seed,
            observes=learns(searcher),
            earlier=found_at,
        )
        from overtone.observers.tensorboard.scalars import is_available

        has_tensorboard = is_available() if experiment.tensorboard is None else experiment.tensorboard
        past = None
        if place.goes_on:
            past = Past(reopened(place, experiment, space), header, asked.errored)
        else:
            make_room(place, experiment.storage, now)
    except BaseException:
        place.give_back()
        raise
    return Parts(
        name, place.folder, place.moved, seed, space, goal, scheduler, searcher, stoppers, controller, engine,
        why_engine, demand, has_tensorboard, limits, nth, place, past, earlier, earlier_line,
    )  # fmt: skip


def _limits(
    experiment: Experiment, searcher: Searcher, scheduler: TrialScheduler, stoppers: list[Any], engine: Engine
) -> Limits:
    from overtone.stoppers import time_budget_s

    total = total_of(searcher, experiment)
    budgets = (experiment.time_budget_s, time_budget_s(stoppers))
    of_engine = engine.capabilities
    return Limits(
        total=total,
        lookahead=_lookahead(total, searcher, scheduler),
        max_concurrent=_smallest(
            experiment.max_concurrent, searcher.max_concurrent, of_engine.max_concurrent
        ),
        max_failures=experiment.max_failures,
        fail_fast=bool(experiment.fail_fast),
        time_budget_s=min((one for one in budgets if one is not None), default=None),
        is_elastic=of_engine.is_elastic,
    )


def _is_curve(trainable: Any, parameters: Mapping[str, Any]) -> bool:
    """Return whether the trainable is a table, or a function of (config, t)."""
    code = getattr(trainable, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    return hasattr(trainable, "curve_of") or (names[1:2] == ("t",) and "t" not in parameters)


def has_files(experiment: Experiment, engine: Engine) -> bool:
    """Return whether trials have folders with files."""
    return not engine.capabilities.repeats if experiment.files is None else experiment.files


def callbacks_of(experiment: Experiment) -> list[Any]:
    """Return the callbacks whose hooks are called; the others are observers themselves."""
    return [one for one in experiment.callbacks if not isinstance(one, Observer)]


def observers_for(
    experiment: Experiment, parts: Parts, keeper: TableKeeper, followers: Sequence[Observer],
    console: Console | SilentConsole,
) -> list[Observer]:  # fmt: skip
    """Return the experiment's observers, in the order in which they get each record.

    Args:
        keeper: Keeps the table of trials for all of them.
        followers: See `followers_for`.
    """
    from overtone.observers.projections import file_observers, reconcile
    from overtone.space.data import is_data_alone

    writes = has_files(experiment, parts.engine)
    found: list[Observer] = []
    folder, tensorboard = parts.folder, parts.has_tensorboard
    is_prompt = bool(experiment.callbacks)  # which may write beside a trial's files, or read them
    repeats = parts.engine.capabilities.repeats
    is_apart = not is_prompt and not repeats and is_data_alone(parts.space)
    if not writes:
        pass
    elif parts.past is not None:
        codec = codec_for(parts.space)
        found = reconcile(folder, tensorboard, codec, table=keeper.table, is_prompt=is_prompt)
    else:
        found = file_observers(
            folder, tensorboard, table=keeper.table, is_prompt=is_prompt, is_apart=is_apart
        )
    found += followers
    is_shown = writes or experiment.verbose != 0 or experiment.reporter is not None
    if repeats and not is_shown and not callbacks_of(experiment):
        return found  # nobody looks, and there is no table to keep
    return [keeper, *found, console]


def _lookahead(total: int | None, searcher: Searcher, scheduler: TrialScheduler) -> int:
    """Return the number of suggestions that may wait for a free slot."""
    if total is None:
        return 0
    return max(searcher.lookahead, total if scheduler.needs_population else 0)


def _smallest(*given: int | None) -> int | None:
    return min((one for one in given if one), default=None)


def _tagger(space: Any) -> Callable[[int, Config], str]:
    from overtone.space import tag

    return lambda index, config: tag(space, config, index)


def _worth(policy: CheckpointPolicy) -> Callable[[Result], float] | None:
    """Return a function for the worth of a result's checkpoint; None if no metric orders checkpoints."""
    name = policy.order
    if name is None:
        return None
    sign = 1.0 if policy.order_mode == "max" else -1.0

    def worth(result: Result) -> float:
        value = lookup(result.metrics, name)
        return sign * real(value) if isinstance(value, (int, float)) and value == value else WORST

    return worth
