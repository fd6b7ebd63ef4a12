"""Reports of ranks to their head, and its verdict on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """The report of one rank in a step.

    Attributes:
        rank: The rank.
        metrics: Its metrics, plain data by name.
        checkpoint: A directory with its files, or a file, that the head can read until all ranks go on; None
            if the rank brought none.
        reduce: The rank's `reduce` argument: "mean", or "" for rank 0's metrics.
        is_record: Whether it is a `record_checkpoint`, which has no metrics, and not a report.
        may_save: Whether the rank asks `should_checkpoint()`, so that it saves on request.
        is_noticed: Whether its process got a SIGTERM.
    """

    rank: int
    metrics: dict[str, Any]
    checkpoint: Path | None = None
    reduce: str = ""
    is_record: bool = False
    may_save: bool = False
    is_noticed: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to the reports of all ranks.

    Attributes:
        params: The new config; None if it did not change.
        wants_save: Whether `should_checkpoint()` is True in each rank until it saves.
    """

    params: Mapping[str, Any] | None = None
    wants_save: bool = False


def joint_metrics(reports: Sequence[Report], reduce: str = "") -> dict[str, Any]:
    """Return the metrics of a step: those of rank 0, or means over ranks if a rank's `reduce` is "mean".

    A mean is over the ranks that reported the metric. Of a metric that is not a number, and of one that is
    equal in all ranks, the lowest rank's value counts.

    Args:
        reduce: "mean" for means in any case.
    """
    if reduce != "mean" and not any(report.reduce == "mean" for report in reports):
        return dict(reports[0].metrics)
    values: dict[str, list[Any]] = {}
    for report in reports:
        for name, value in report.metrics.items():
            values.setdefault(name, []).append(value)
    return {name: _mean(of_ranks) for name, of_ranks in values.items()}


def _mean(values: list[Any]) -> Any:
    if all(value == values[0] for value in values):
        return values[0]  # a count stays an integer
    if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
        return sum(values) / len(values)
    return values[0]
