"""Problems for searches: curves, a goal and a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from overtone.errors import ArgumentError, GoalError


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a comparison; `of_table` makes it from recorded curves.

    Attributes:
        trainable: The trainable of the simulated engine: a table, a function `(config, t)`, or an
            ordinary trainable.
        metric, mode: The metric to optimise, and "max" or "min".
        name: The name in tables and plots.
        space: The search space; empty if the trainable defines it.
        num_samples: Maximum number of trials of a search; -1 for `budget_s` only.
        budget_s: Maximum virtual seconds of a search; None for no limit.
        target: The value of the metric at which a search succeeds; None for problems without a
            target.
        max_t: The length of the longest curve, in iterations, for functions that make schedulers.
        family: The kind of problem.
        checkpoint_freq: The number of reports between two checkpoints of a trial; None for the default of
            simulations: none, unless a scheduler pauses the trial or its machine may go away.

    Raises:
        ValueError: The search would never end, or the mode is not "max" or "min".
    """

    trainable: Any
    metric: str
    mode: str
    name: str = ""
    space: Mapping[str, Any] = field(default_factory=dict)
    num_samples: int = 100
    budget_s: float | None = None
    target: float | None = None
    max_t: int | None = None
    family: str = ""
    checkpoint_freq: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("max", "min"):
            raise GoalError(f'mode={self.mode!r}: choose "max" or "min"')
        if self.num_samples < 1 and (self.num_samples != -1 or self.budget_s is None):
            raise ArgumentError(
                f"num_samples={self.num_samples} and budget_s={self.budget_s}: a search must end: give "
                "a number of trials, or -1 and a budget"
            )
        if not self.name:
            object.__setattr__(
                self, "name", getattr(self.trainable, "__name__", type(self.trainable).__name__)
            )

    @classmethod
    def of_table(
        cls, table: Any, metric: str, mode: str, *, best: float = 0.01, draws: float = 4.0, **others: Any
    ) -> Problem:
        """Return a problem whose target is to find one of the best configurations of a `CurveTable`.

        Args:
            table: The curves.
            metric, mode: The metric to optimise, and "max" or "min".
            best: The share of rows that count as best; at least one row. The target is the
                best value of the worst of these rows.
            draws: Maximum number of trials of a search, per row of the table.
            others: Further attributes.

        Raises:
            GoalError: The table has no number for the metric.
        """
        sign = 1.0 if mode == "max" else -1.0
        bests, lengths = [], []
        for row in range(len(table)):
            values, t, at = [], 0, table.curve_of({"row": row})
            while (point := at(t + 1)) is not None:
                t += 1
                value = sign * float(point[0][metric])
                if value == value:
                    values.append(value)
            lengths.append(t)
            bests += [max(values)] if values else []
        if not bests:
            raise GoalError(f"{table!r} has no value of {metric!r} that is a number")
        bests.sort()
        target = sign * bests[-max(1, round(best * len(table)))]
        given = {"num_samples": round(draws * len(table)), "target": target, "max_t": max(lengths), **others}
        return cls(table, metric, mode, **given)
