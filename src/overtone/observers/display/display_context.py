"""What whoever shows an experiment must be told, since records do not say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from overtone.core.goal import Goal
from overtone.observers.columns import Columns


@dataclass(slots=True)
class ConsoleFacts:
    """An experiment, as the console needs to know it. Fields may be set until the run begins.

    Attributes:
        name: The experiment's name.
        folder: Where its results lie.
        engine_line: Which engine runs it, why, and what it has: the first line of a run.
        clock: Seconds that the experiment has run.
        trainable: The trainable's name, as in trial names.
        metric, mode: What is optimised, where it was named.
        goal: Asked for (metric, mode) while `metric` is None: a goal that is taken from the first result.
        limits: The goal, as far as its constraints go.
        total: How many trials there will be; None while that is unknown.
        describe: The scheduler's line or lines.
        waits: What trials wait for that is not there, in one line; "" for nothing.
        parameters: The paths ("optimizer/lr") that the search chooses; None to see it from the configs.
        metric_columns, parameter_columns: What tables show; None chooses by itself.
        has_tensorboard: Whether TensorBoard files are written.
        may_redraw: False keeps to plain lines in a terminal too, for pdb.
    """

    is_given: ClassVar[bool] = True  # no snapshot has them: a resume may be in another folder

    name: str
    folder: str
    engine_line: str
    clock: Callable[[], float]
    trainable: str = "train"
    metric: str | None = None
    mode: str | None = None
    goal: Callable[[], tuple[str | None, str | None]] | None = None
    limits: Goal = field(default_factory=Goal)
    total: Callable[[], int | None] = lambda: None
    describe: Callable[[], str] = lambda: ""
    waits: Callable[[], str] = lambda: ""
    parameters: Sequence[str] | None = None
    metric_columns: Columns = None
    parameter_columns: Columns = None
    has_tensorboard: bool = False
    may_redraw: bool = True

    def named_goal(self) -> tuple[str | None, str]:
        """(metric, mode) as far as they are known; mode is "max" where nobody said."""
        if self.metric is None and self.goal is not None:
            metric, mode = self.goal()
            if metric is None:
                return None, mode or self.mode or "max"
            self.metric, self.mode = metric, mode or self.mode
        return self.metric, self.mode or "max"
