"""The console of an experiment, made from the experiment's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overtone.experiment import Experiment
from overtone.run.compose import callbacks_of, has_files
from overtone.run.parts import Parts

if TYPE_CHECKING:
    from overtone.core.table import TrialTable
    from overtone.observers.display.console import Console
    from overtone.observers.display.silent import SilentConsole


def console_of(experiment: Experiment, parts: Parts, table: TrialTable) -> Console | SilentConsole:
    """Return the console for `verbose` and the reporter; `table` has each record before it."""
    from overtone.observers.display.console import ConsoleFacts, console_for
    from overtone.space import variables

    goal, engine = parts.goal, parts.engine
    facts = ConsoleFacts(
        name=parts.folder.name,
        folder=parts.place.url or str(parts.folder),
        engine_line=f"running on the {engine.describe()} ({parts.why_engine})",
        clock=engine.now,
        trainable=parts.name,
        metric=goal.metric,
        mode=goal.mode,
        goal=lambda: (goal.metric, goal.mode),
        limits=goal,
        total=lambda: parts.searcher.total,
        describe=parts.scheduler.describe,
        waits=engine.waits,
        parameters=variables(parts.space) or None,
        has_tensorboard=parts.has_tensorboard and has_files(experiment, engine),
        has_callbacks=bool(callbacks_of(experiment)),
        may_redraw=not engine.capabilities.calls_pump,
    )
    return console_for(facts, table, experiment.verbose, experiment.reporter)
