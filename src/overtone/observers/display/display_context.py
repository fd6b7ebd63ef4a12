"""Facts about an experiment that displays need and that records do not contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from overtone.core.goal import Goal
from overtone.observers.columns import Columns


@dataclass(slots=True)
class ConsoleFacts:
    """Facts about an experiment for the console. Fields may be set until the run begins.

    Attributes:
        name: The experiment's name.
        folder: The folder of the results.
        engine_line: The engine, the reason for its choice and its resources: the first line of a run.
        clock: Returns the seconds that the experiment has run.
        trainable: The trainable's name, as in trial names.
        metric, mode: The metric to optimise and its direction, if the user named them.
        goal: Returns (metric, mode) while `metric` is None: the goal is taken from the first result.
        limits: The goal, for its constraints.
        total: The number of trials of the experiment; None while it is unknown.
        longest: The largest number of iterations that a trial can reach; None if unknown.
        budget_s: The time budget of the experiment in seconds; None for no limit.
        rung_defaults: The scheduler's `grace_period`, `max_t` and `reduction_factor`, if it has these and
            the user did not choose the grace period.
        describe: The scheduler's line or lines.
        waits: The missing resources that trials wait for, in one line; "" if no trial waits.
        parameters: The paths ("optimizer/lr") that the search chooses; None to infer them from configs.
        metric_columns, parameter_columns: The columns of tables; None chooses automatically.
        has_tensorboard: Whether TensorBoard files are written.
        lacks_tensorboard: Whether they would be if the extra "tensorboard" were installed.
        has_callbacks: Whether callbacks see the trials, whose results are kept then.
        may_redraw: Whether a terminal may be redrawn; False writes plain lines, for pdb.
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
    longest: int | None = None
    budget_s: float | None = None
    rung_defaults: Mapping[str, float] | None = None
    describe: Callable[[], str] = lambda: ""
    waits: Callable[[], str] = lambda: ""
    parameters: Sequence[str] | None = None
    metric_columns: Columns = None
    parameter_columns: Columns = None
    has_tensorboard: bool = False
    lacks_tensorboard: bool = False
    has_callbacks: bool = False
    may_redraw: bool = True

    def named_goal(self) -> tuple[str | None, str]:
        """Return (metric, mode) as far as they are known; mode is "max" if nobody named it."""
        if self.metric is None and self.goal is not None:
            metric, mode = self.goal()
            if metric is None:
                return None, mode or self.mode or "max"
            self.metric, self.mode = metric, mode or self.mode
        return self.metric, self.mode or "max"
