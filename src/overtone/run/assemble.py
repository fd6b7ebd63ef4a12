"""Creates the parts of an experiment: its folder is taken, and its algorithms begin with its seed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from math import isnan, nan
from typing import Any

from overtone.control.added_configs import completion
from overtone.core.controller import Controller
from overtone.core.limits import Limits
from overtone.core.randomness import Random
from overtone.core.requests import PRIORITY_RULE
from overtone.core.retention import MetricWorth, Retention
from overtone.core.trial import Template, equal
from overtone.core.types import Config
from overtone.errors import ArgumentError
from overtone.experiment import CheckpointPolicy
from overtone.run.acquire import acquire, make_room
from overtone.run.algorithms import found_at, learns, observes_pauses, total_of
from overtone.run.parts import Parts, Past
from overtone.run.plan import Plan
from overtone.run.resume.resume import recorded_in, reopened
from overtone.run.resume.target import count_in_process
from overtone.run.storage.experiment_list import list_experiment
from overtone.run.storage.initial_checkpoint import keep_initial, kept_initial, source_of
from overtone.run.warm_start import warm


def assemble(plan: Plan) -> Parts:
    """Take the experiment's folder and return its parts: only this driver writes there.

    An earlier experiment in the folder is moved aside last, when nothing else can fail.

    Raises:
        StorageError: The folder cannot be created, or another driver holds it.
        OvertoneError, ValueError, TypeError: An algorithm cannot begin. The folder is released, and its
            new contents are removed.
    """
    experiment, searcher = plan.experiment, plan.searcher
    nth, now = count_in_process(), datetime.now()
    isolates, patience_s = plan.engine.capabilities.isolates, experiment.storage_patience_s
    place = acquire(
        experiment.storage, experiment.name, plan.name, now, plan.asked, nth, isolates, patience_s
    )
    try:
        recorded = recorded_in(place)
        asked = experiment.seed if recorded.seed is None else recorded.seed
        seed = _drawn_seed() if asked is None else asked
        searcher.goal = plan.goal
        searcher.on_start(plan.space, seed)
        earlier, earlier_line = warm(
            experiment.warm_start, searcher, plan.space, plan.goal, recorded.earlier, learns
        )
        limits = _limits(plan)
        most = plan.engine.capabilities.max_concurrent
        controller = controller_for(plan, seed, recorded.limits or limits, most)
        past = None
        begins_from = source_of(experiment.restore) if experiment.restore and not place.goes_on else None
        if place.goes_on:
            past = Past(reopened(place, plan), recorded.header)
        else:
            make_room(place, experiment.storage, now)
        if begins_from is not None:
            controller.begin_from(keep_initial(place, begins_from))
        elif recorded.begins_from and (initial := kept_initial(place)) is not None:
            controller.begin_from(initial)
    except BaseException:
        place.give_back()
        raise
    list_experiment(place)
    return Parts(plan, place, nth, seed, limits, controller, earlier, earlier_line, past)


def controller_for(plan: Plan, seed: int, limits: Limits, most_concurrent: int | None) -> Controller:
    """Return a new controller with the parts of a plan; its searcher has begun.

    Args:
        most_concurrent: The largest number of trials that the engine runs at the same time, if limited.
    """
    experiment, searcher = plan.experiment, plan.searcher
    priority = equal if experiment.priority is None else _checked(experiment.priority)
    template = Template(
        plan.resources, _tagger(plan), priority, experiment.trial_name, complete=completion(plan.space, seed)
    )
    return Controller(
        plan.scheduler,
        plan.goal,
        stoppers=plan.stoppers,
        limits=limits,
        template=template,
        retention=Retention(experiment.checkpoints.keep, experiment.checkpoints.most_bytes),
        checkpoint_worth=_worth(experiment.checkpoints),
        seed=seed,
        observes=learns(searcher),
        observes_pauses=observes_pauses(searcher),
        earlier=found_at,
        total_for=searcher.total_for,
        most_concurrent=most_concurrent,
    )


def _drawn_seed() -> int:
    """Return a new seed, from NumPy's global generator if NumPy is imported: `np.random.seed` counts."""
    numpy_random: Any = sys.modules.get("numpy.random")
    if numpy_random is None:
        return Random().getrandbits(32)
    return int(numpy_random.randint(2**32, dtype="uint32"))


def _limits(plan: Plan) -> Limits:
    """Return the limits of the experiment; the searcher has begun and knows its number of trials."""
    from overtone.stoppers import time_budget_s

    experiment, searcher, engine = plan.experiment, plan.searcher, plan.engine.capabilities
    total = total_of(searcher, experiment)
    lookahead = 0
    if total is not None:
        lookahead = max(searcher.lookahead, total if plan.scheduler.needs_population else 0)
    concurrent = experiment.max_concurrent, searcher.max_concurrent, engine.max_concurrent
    budgets = experiment.time_budget_s, time_budget_s(plan.stoppers)
    return Limits(
        total=total,
        lookahead=lookahead,
        max_concurrent=min((one for one in concurrent if one), default=None),
        max_failures=experiment.max_failures,
        fail_fast=bool(experiment.fail_fast),
        time_budget_s=min((one for one in budgets if one is not None), default=None),
        is_elastic=engine.is_elastic,
    )


def _tagger(plan: Plan) -> Callable[[int, Config], str]:
    from overtone.space import tag

    return lambda index, config: tag(plan.space, config, index)


def _checked(priority: Callable[[Config], Any]) -> Callable[[Config], float]:
    """Return the user's function with a check: a value that cannot be compared would spoil the queue."""

    def checked(config: Config) -> float:
        value = priority(config)
        number = float(value) if hasattr(value, "__float__") else nan
        if isnan(number):
            raise ArgumentError(
                f"priority returned {value!r:.80} for {config!r:.200}: must be {PRIORITY_RULE}"
            )
        return number

    return checked


def _worth(policy: CheckpointPolicy) -> MetricWorth | None:
    """Return the worth of a result's checkpoint; None if no metric orders checkpoints."""
    return (
        None
        if policy.order is None
        else MetricWorth(policy.order, 1.0 if policy.order_mode == "max" else -1.0)
    )
