"""The observers of an experiment: its console, its files, and those that the user gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.core.protocols import Observer
from overtone.run.header.journal_setup import codec_for
from overtone.run.parts import Parts
from overtone.standard_streams import say
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.core.table import TrialTable
    from overtone.observers.display.console import Console
    from overtone.observers.display.silent import SilentConsole
    from overtone.observers.table_keeper import TableKeeper
    from overtone.observers.trackers.tracker import TrackerCallback
    from overtone.reading.journal_index import JournalIndex
    from overtone.run.plan import Plan


def console_of(parts: Parts, table: TrialTable) -> Console | SilentConsole:
    """Return the console for `verbose` and the reporter; `table` has each record before it."""
    from overtone.observers.display.console import ConsoleFacts, console_for
    from overtone.space import variables

    plan = parts.plan
    goal, engine = plan.goal, plan.engine
    facts = ConsoleFacts(
        name=parts.folder.name,
        folder=parts.place.url or str(parts.folder),
        engine_line=f"running on the {engine.describe()} ({plan.why_engine})",
        clock=engine.now,
        trainable=plan.name,
        metric=goal.metric,
        mode=goal.mode,
        goal=lambda: (goal.metric, goal.mode),
        limits=goal,
        total=lambda: plan.searcher.total,
        longest=_longest(plan),
        rung_defaults=_rung_defaults(plan),
        budget_s=plan.experiment.time_budget_s,
        describe=plan.scheduler.describe,
        waits=engine.waits,
        parameters=variables(plan.space) or None,
        has_tensorboard=plan.has_tensorboard and plan.has_files,
        lacks_tensorboard=plan.experiment.tensorboard is None and plan.has_files and not plan.has_tensorboard,
        has_callbacks=bool(_callbacks(parts)),
        may_redraw=not engine.capabilities.calls_pump,
    )
    return console_for(facts, table, plan.experiment.verbose, plan.experiment.reporter)


def _longest(plan: Plan) -> int | None:
    """Return the most iterations that `stop` and the scheduler's `max_t` allow a trial; None for no limit."""
    found = []
    stop = plan.experiment.stop
    if isinstance(stop, Mapping):
        found.append(stop.get("training_iteration"))
    if plan.scheduler.ends_trials and plan.scheduler.time_attr == "training_iteration":
        found.append(_scheduler_arguments(plan)[1].get("max_t"))
    known = [int(one) for one in found if isinstance(one, (int, float)) and 0 < one < math.inf]
    return min(known, default=None)


def _rung_defaults(plan: Plan) -> Mapping[str, float] | None:
    given, every = _scheduler_arguments(plan)
    names = ("grace_period", "max_t", "reduction_factor")
    if "grace_period" in given or not all(isinstance(every.get(name), (int, float)) for name in names):
        return None
    return {name: every[name] for name in names}


def _scheduler_arguments(plan: Plan) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the scheduler's arguments as they were given, and with the defaults; empty if not known."""
    positional, named = plan.scheduler.arguments
    try:
        bound = signature(type(plan.scheduler)).bind(*positional, **named)
    except (TypeError, ValueError):  # a class that changes its arguments
        return {}, {}
    given = dict(bound.arguments)
    bound.apply_defaults()
    return given, bound.arguments


def followers_for(parts: Parts, table: TrialTable, ask_to_save: Callable[[str], None]) -> list[Observer]:
    """Return the user's callbacks and other requested observers, in the order in which they get records.

    A resume shows them past records.

    Args:
        table: Has each record before the observers get it.
        ask_to_save: Function that callbacks call with the id of a trial that should save.
    """
    plan, experiment, folder = parts.plan, parts.plan.experiment, parts.folder
    found: list[Observer] = []
    if experiment.trial_folder is not None:
        from overtone.observers.files.named_links import Links

        found.append(Links(folder, parts.controller.trials, experiment.trial_folder))
    callbacks = _callbacks(parts)
    if callbacks:
        from overtone.observers.callbacks.callback_observer import CallbackObserver, StepBegin
        from overtone.observers.trial_view import Experiment as Seen
        from overtone.run.resume.callback_states import CallbackStates
        from overtone.space import variables
        from overtone.worker.checkpoints.checkpoint import Checkpoint

        seen = Seen(
            plan.name, str(folder), variables(plan.space) or None, lambda one: Checkpoint(one.uri),
            ask_to_save, _summaries(folder),
        )  # fmt: skip
        states = CallbackStates(folder, callbacks)
        if parts.past is not None:
            states.restore()
        hooks = CallbackObserver(callbacks, seen, table, _facts(parts), experiment.fail_fast == "raise")
        found += [StepBegin(hooks), hooks] if hooks.has_steps else [hooks]
        if states:
            found.append(states)
    if trackers := _trackers(parts):
        from overtone.observers.trackers.trackers import Trackers

        found.append(Trackers(folder, trackers, table, _facts(parts)))
    if plan.scheduler.log_config:
        from overtone.observers.files.policy_log import PolicyLog

        found.append(PolicyLog(folder))
    found += [one for one in experiment.callbacks if isinstance(one, Observer)]
    return found


def observers_for(
    parts: Parts, keeper: TableKeeper, followers: Sequence[Observer], console: Console | SilentConsole
) -> list[Observer]:
    """Return the experiment's observers, in the order in which they get each record.

    The files of a resumed experiment are brought to the length of its journal.

    Args:
        keeper: Keeps the table of trials for all of them.
        followers: See `followers_for`.
    """
    from overtone.observers.projections import file_observers, reconcile
    from overtone.space.data import is_data_alone

    plan, experiment, folder = parts.plan, parts.plan.experiment, parts.folder
    found: list[Observer] = []
    trackers = _trackers(parts)  # they read a trial's files at its end, if at all
    is_prompt = len(trackers) < len(experiment.callbacks)  # others may use its files at any time
    if not plan.has_files:
        pass
    elif parts.past is not None:
        found = reconcile(
            folder, plan.has_tensorboard, codec_for(plan.space), table=keeper.table, is_prompt=is_prompt,
            without=_written_by_callbacks(parts),
        )  # fmt: skip
    else:
        is_apart = not is_prompt and not plan.engine.capabilities.repeats and is_data_alone(plan.space)
        found = file_observers(
            folder, plan.has_tensorboard, table=keeper.table, is_prompt=is_prompt, is_apart=is_apart,
            without=_written_by_callbacks(parts),
        )  # fmt: skip
    found += followers
    is_shown = plan.has_files or experiment.verbose != 0 or experiment.reporter is not None
    if plan.engine.capabilities.repeats and not is_shown and not experiment.callbacks:
        return found  # nobody looks, and there is no table to keep
    return sorted([keeper, *found, console], key=lambda one: not one.precedes_table)


def mend_files(
    parts: Parts, failed: Sequence[Observer], unfinished: Sequence[tuple[Observer, Exception]]
) -> None:
    """Write the files that observers could not write, for example because the disk was full.

    Args:
        failed: Observers whose failures were reported.
        unfinished: Observers that could not be closed, with their errors.
    """
    from overtone.observers.projections import reconcile

    for observer, error in unfinished:
        if not observer.is_projection:
            say(f"{type(observer).__name__} could not finish: {type(error).__name__}: {error}")
    reasons = [error for observer, error in unfinished if observer.is_projection]
    if not reasons and not any(one.is_projection for one in failed):
        return
    plan = parts.plan
    try:
        for observer in reconcile(
            parts.folder, plan.has_tensorboard, codec_for(plan.space), trusts_old=False,
            without=_written_by_callbacks(parts),
        ):  # fmt: skip
            observer.close()
        for error in reasons:
            say(str(error))
        say("the files of trials were brought to the length of the journal")
    except Exception as error:  # for the same reason, mostly: it is told once
        say(f"the files of trials are not complete: {error}")


def _callbacks(parts: Parts) -> list[Any]:
    """Return the callbacks whose hooks the driver calls; the others are observers themselves, or trackers."""
    trackers = _trackers(parts)
    return [
        one
        for one in parts.plan.experiment.callbacks
        if not isinstance(one, Observer) and one not in trackers
    ]


def _trackers(parts: Parts) -> list[TrackerCallback]:
    """Return the callbacks whose hooks are called in processes of their own."""
    given = parts.plan.experiment.callbacks
    if not given:
        return []
    from overtone.observers.trackers.tracker import TrackerCallback

    return [one for one in given if isinstance(one, TrackerCallback)]


def _facts(parts: Parts) -> Mapping[str, Any]:
    """Return the arguments of `Callback.setup`."""
    plan, experiment, folder = parts.plan, parts.plan.experiment, parts.folder
    return {
        "stop": experiment.stop, "num_samples": experiment.num_samples,
        "time_budget_s": experiment.time_budget_s, "total_num_samples": plan.searcher.total,
        "name": folder.name, "path": str(folder), "goal": lambda: (plan.goal.metric, plan.goal.mode),
    }  # fmt: skip


def _written_by_callbacks(parts: Parts) -> set[str]:
    """Return the names of trials' files that callbacks write themselves."""
    callbacks = _callbacks(parts)
    if not callbacks:
        return set()
    from overtone.observers.callbacks.callback import Callback as UserCallback

    own = (one.written_files for one in callbacks if isinstance(one, UserCallback))
    return {name for names in own for name in names}


def _summaries(folder: Path) -> Callable[[str], dict[str, dict[str, float]]]:
    """Return a function that summarises a trial's metrics; it reads the journal written so far."""
    read: list[JournalIndex] = []

    def summary(trial_id: str) -> dict[str, dict[str, float]]:
        from overtone.analysis.recorded_trial import RecordedTrial
        from overtone.reading.journal_index import JournalIndex

        if not read:
            read.append(JournalIndex(folder / JOURNAL))
        read[0].refresh()
        return RecordedTrial(trial_id, read[0]).metric_analysis

    return summary
