"""The goal of the search: metric, mode, signs, missing keys and NaN, for all algorithms."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from math import inf, nan
from typing import Any

from overtone.core.types import UNNAMED, WORST, Metrics, Result
from overtone.errors import GoalError

OWN_FIELDS = frozenset({
    "training_iteration", "time_this_iter_s", "time_total_s", "timesteps_total", "timesteps_this_iter",
    "episodes_total", "timestamp", "date", "pid", "hostname", "node_ip", "trial_id", "experiment_tag",
    "experiment_id", "iterations_since_restore", "time_since_restore", "timesteps_since_restore", "done",
    "config", "should_checkpoint",
})  # fmt: skip
"""Fields that a session adds; never inferred as a goal."""

MOST_LISTED = 20
_MOST_SHOWN = 100
"""Most names in a message, and most characters of each: a result may have a million names."""

_UP = re.compile(r"acc|reward|score|(^|[^a-z])(auc|f1)([^a-z]|$)", re.IGNORECASE)
_DOWN = re.compile(r"loss|error|perplexity", re.IGNORECASE)
_NEGATED = re.compile(r"(^|[^a-z])neg(ative|ated)?([^a-z]|$)", re.IGNORECASE)


_LARGEST = sys.float_info.max
WORST_VIOLATION = float("inf")
"""Violation of a constraint whose metric is NaN."""


class Goal:
    """Turns reports into `Result`s; the only place that knows metric and mode.

    Attributes:
        metrics: The objectives' names; empty until they are named or inferred.
        modes: "max" or "min" of each.
        time_attr: The metric that serves as the schedulers' clock.
        constraints: Metrics that must be <= 0, or <= their bound if one is given.
        is_needed: Whether an algorithm uses the goal.
        is_binding: Whether a trial that never reports the metric has failed. False if the metric
            was inferred and no algorithm needs it.

    Raises:
        GoalError: A mode is unknown, their number is not that of the metrics, or `time_attr` is not a name.
    """

    def __init__(
        self,
        metric: str | Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None,
        time_attr: str = "training_iteration",
        constraints: Sequence[str] | Mapping[str, float] = (),
        is_needed: bool = False,
    ) -> None:
        self.metrics = _names(metric)
        given = _names(mode)
        for one in given:
            if one not in ("max", "min"):
                raise GoalError(f'mode={one!r}: choose "max" or "min"')
        if given and len(given) not in (1, max(1, len(self.metrics))):
            raise GoalError(f"{len(self.metrics)} metrics {self.metrics} but {len(given)} modes {given}")
        self._given_mode = given[0] if len(given) == 1 else None
        if len(given) == 1:
            given = given * len(self.metrics)
        self.modes = given or tuple(_direction(name) or "max" for name in self.metrics)
        if not isinstance(time_attr, str):
            raise GoalError(f'time_attr={time_attr!r}: give a metric, such as "training_iteration"')
        self.time_attr = time_attr
        self.bounds = _bounds(constraints)
        self.constraints = _names(constraints) if isinstance(constraints, str) else tuple(constraints)
        self.is_needed = is_needed
        self.is_binding = is_needed or bool(self.metrics)
        self._signs = tuple(1.0 if one == "max" else -1.0 for one in self.modes)
        self._name = self._only_name()

    @classmethod
    def collect(
        cls,
        sources: Iterable[tuple[str, Any, Any]],
        time_attr: str = "training_iteration",
        is_needed: bool = False,
        constraints: Sequence[str] | Mapping[str, float] = (),
    ) -> Goal:
        """Return the goal named by several sources (who, metric, mode).

        Raises:
            GoalError: Two sources disagree, or none gives the mode of a metric.
        """
        metric: tuple[str, Any] | None = None
        mode: tuple[str, Any] | None = None
        for who, its_metric, its_mode in sources:
            for kind, value, known in (("metric", its_metric, metric), ("mode", its_mode, mode)):
                if value and known and _names(known[1]) != _names(value):
                    raise GoalError(
                        f"{kind}={known[1]!r} in {known[0]} but {kind}={value!r} in {who}: "
                        "name it once, or the same everywhere"
                    )
            metric = metric or ((who, its_metric) if its_metric else None)
            mode = mode or ((who, its_mode) if its_mode else None)
        if metric and not mode:
            ways = {one: _direction(one) for one in _names(metric[1])}
            if unknown := [one for one, way in ways.items() if way is None]:
                each = ", ".join(f'"{way}"' if way else '"max" or "min"' for way in ways.values())
                raise GoalError(
                    f"metric={metric[1]!r} in {metric[0]} has no mode, and its name does not tell whether "
                    f"{unknown[0]!r} should grow or fall: give mode={f'[{each}]' if len(ways) > 1 else each}"
                )
        return cls(metric and metric[1], mode and mode[1], time_attr, constraints, is_needed)

    @property
    def metric(self) -> str | None:
        """The first objective."""
        return self.metrics[0] if self.metrics else None

    @property
    def mode(self) -> str | None:
        """The first objective's mode; before it is inferred, the mode that the user gave."""
        return self.modes[0] if self.modes else self._given_mode

    def infer(self, metrics: Metrics) -> str | None:
        """Infer the goal from the first result if the user named none.

        Returns:
            A message about it; None if the goal is known, or is neither clear nor needed.

        Raises:
            GoalError: The goal is needed and cannot be inferred from the reported metrics.
        """
        if self.metrics:
            return None
        reported = [name for name, value in metrics.items() if name not in OWN_FIELDS and is_number(value)]
        known = [name for name in reported if _direction(name)]
        name = reported[0] if len(reported) == 1 else known[0] if len(known) == 1 else None
        mode = self._given_mode or (name and _direction(name))
        if name is None or mode is None:
            if not self.is_needed:
                return None
            what = "which metric to optimise" if name is None else f"whether {name!r} should grow or fall"
            raise GoalError(
                f"cannot tell {what}: the trial reported {_listed(reported, 'no number')}; "
                f'say it with metric={name or (reported or ["..."])[0]!r}, mode="max" or "min"'
            )
        self.metrics, self.modes = (name,), (mode,)
        self._signs = (1.0 if mode == "max" else -1.0,)
        self._name = self._only_name()
        return f'metric and mode were not named: taking metric={name!r}, mode="{mode}"'

    def doubts(self, metrics: Metrics) -> list[str]:
        """Return a warning for each objective that the first result lacks: it may be misspelt.

        Raises:
            GoalError: A scheduler's clock was not reported, so that it could rule on nothing.
        """
        reported = [name for name, value in metrics.items() if name not in OWN_FIELDS and is_number(value)]
        if self.is_needed and not is_number(lookup(metrics, self.time_attr)):
            raise GoalError(
                f"time_attr={self.time_attr!r} is not in the first result, which has "
                f"{_listed(reported)}{_nearest(self.time_attr, reported)}"
            )
        lacking = [name for name in self.metrics if lookup(metrics, name) is None]
        return [
            f"the first result has no {name!r}, which is waited for; it has {_listed(reported)}"
            f"{_nearest(name, [*reported, *OWN_FIELDS])}"
            for name in lacking
        ]

    def result(self, metrics: Metrics, iteration: int | None = None) -> Result:
        """Return the normalised form of a report.

        Args:
            iteration: Its training_iteration, if already known.
        """
        if iteration is not None and self.time_attr == "training_iteration":
            clock: Any = iteration
        else:
            t = lookup(metrics, self.time_attr)
            clock = t if type(t) is int or is_number(t) else metrics.get("training_iteration", 0)
        if self._name is not None:  # Usual: one metric, not nested, no constraints.
            value = metrics.get(self._name)
            if type(value) is float:
                score = self._signs[0] * value if value == value else WORST
                return Result(clock, score, (score,), (), metrics)
        scores: list[float] = []
        for name, sign in zip(self.metrics, self._signs):  # noqa: B905 - as long, and this is hot
            value = lookup(metrics, name)
            if type(value) is not float and not is_number(value):
                scores.clear()
                break
            scores.append(sign * real(value) if value == value else WORST)
        if not scores:
            return Result(clock, WORST, (), (), metrics)
        return Result(
            clock, scores[0], tuple(scores), self.violations(metrics) if self.constraints else (), metrics
        )

    def violations(self, metrics: Metrics) -> tuple[float, ...]:
        """Return the violation of each constraint: <= 0 if it is met, inf for NaN and non-numbers.

        A constraint whose metric is missing counts as met: a later report may have the metric.
        """
        found = []
        for name, bound in zip(self.constraints, self.bounds, strict=True):
            value = lookup(metrics, name)
            value = bound if value is None else value if is_number(value) else WORST_VIOLATION
            found.append(real(value) - bound if value == value else WORST_VIOLATION)
        return tuple(found)

    def allows(self, metrics: Metrics) -> bool:
        """Return whether a result meets all constraints; a result that does not is never the best."""
        return not self.constraints or max(self.violations(metrics)) <= 0

    def _only_name(self) -> str | None:
        return self.metrics[0] if len(self.metrics) == 1 and not self.constraints else None

    def value(self, score: float) -> float:
        """Return a score as the user's metric, with its original sign."""
        return score * self._signs[0] if self._signs else score

    def values(self, result: Result) -> list[float]:
        """Return the objectives of a result with their original signs; NaN is NaN, and not the worst."""
        found = [lookup(result.metrics, name) for name in self.metrics]
        each = zip(found, self._signs, result.scores, strict=True)
        return [nan if value != value else sign * score for value, sign, score in each]

    def missing_constraint(self, *reports: Metrics) -> str:
        """Return the error if none of `reports` has one of the constraint metrics; "" otherwise."""
        for name in self.constraints:
            if all(lookup(metrics, name) is None for metrics in reports):
                names = [one for one in reports[0] if one not in OWN_FIELDS]
                return (
                    f"the trial ended without reporting the constraint metric {name!r}: it reported "
                    f"{_listed(names)}{_nearest(name, names)}"
                )
        return ""

    def missing(self, metrics: Iterable[str]) -> str:
        """Return the error of a trial that ended without reporting the metric."""
        names = [name for name in metrics if name not in OWN_FIELDS]
        absent = [name for name in self.metrics if name not in names]
        lacking = absent[0] if absent else self.metric or "?"
        hint = _nearest(lacking, names)
        if not absent and isinstance(metrics, Mapping):
            was = f"{metrics[lacking]!r:.100}"
            return f"the trial ended without reporting a number as {lacking!r}: it was {was}"
        if names == [UNNAMED]:
            return (
                f"the trial ended without reporting {lacking!r}: it reported a number without a name. "
                f'Name it: tune.report({{"{lacking}": value}})'
            )
        return (
            f"the trial ended without reporting a number as {lacking!r}: it reported {_listed(names)}{hint}"
        )


def lacking_criteria(names: Sequence[str], metrics: Metrics) -> str:
    """Return the warning about stop criteria whose metrics no result has had.

    Args:
        names: Those metrics.
        metrics: The newest result.
    """
    those, end = ("it", "does") if len(names) == 1 else ("they", "do")
    return (
        f"stop= waits for {_listed(names)}, and no result so far has a number of that name, so that {those} "
        f"{end} not end any trial; {_reported_instead(names, metrics)}"
    )


def lacking_order(names: Sequence[str], metrics: Metrics) -> str:
    """Return the warning about a metric that selects checkpoints and that no result has had.

    Args:
        names: That metric.
        metrics: The newest result.
    """
    return (
        f"checkpoint_score_attribute selects checkpoints by {_listed(names)}, and no result so far has a "
        f"number of that name, so that the newest are kept; {_reported_instead(names, metrics)}"
    )


def _reported_instead(names: Sequence[str], metrics: Metrics) -> str:
    reported = [name for name in _paths(metrics) if name not in OWN_FIELDS]
    hints = "".join(_nearest(name, [*reported, *OWN_FIELDS]) for name in names)
    return f"the newest result has {_listed(reported)}{hints}"


def _paths(metrics: Metrics, before: str = "") -> list[str]:
    """Return the names of all metrics; nested names as "a/b"."""
    found: list[str] = []
    for name, value in metrics.items():
        inside = isinstance(value, Mapping)
        found += _paths(value, f"{before}{name}/") if inside else [f"{before}{name}"]
    return found


def lookup(metrics: Metrics, name: str) -> Any:
    """Return `metrics[name]`, or the nested value of "a/b"; None if there is no such value."""
    value = metrics.get(name)
    if value is None and "/" in name:
        inner: Any = metrics
        for part in name.split("/"):
            inner = inner.get(part) if isinstance(inner, Mapping) else None
        return inner
    return value


def _listed(names: Sequence[str], nothing: str = "nothing") -> str:
    more = len(names) - MOST_LISTED
    shown = ", ".join(f"{name!r:.{_MOST_SHOWN}}" for name in names[:MOST_LISTED]) or nothing
    return f"{shown}, and {more} more" if more > 0 else shown


def _nearest(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, [one for one in islice(names, 1000) if len(one) <= _MOST_SHOWN], 1)
    if not near or near[0] == name:
        return ""
    if near[0] in OWN_FIELDS:
        return f"; did you mean {near[0]!r}?"
    # Either name may be the misspelt one.
    return f"; {name!r} and {near[0]!r} are similar: use the same name in both places"


def _bounds(constraints: Sequence[str] | Mapping[str, float]) -> tuple[float, ...]:
    """Return the upper bound of each constraint metric.

    Raises:
        GoalError: It is not a number.
    """
    if not hasattr(constraints, "__iter__"):
        raise GoalError(f'constraints={constraints!r:.200}: must be a dict, such as {{"latency_ms": 50}}')
    if unnamed := [name for name in constraints if not isinstance(name, str)]:
        raise GoalError(
            f'constraints={constraints!r:.200}: {unnamed[0]!r} is not the name of a metric, such as "size"'
        )
    if not isinstance(constraints, Mapping):
        return (0.0,) * (1 if isinstance(constraints, str) else len(constraints))
    for name, bound in constraints.items():
        if not is_number(bound) or bound != bound:
            raise GoalError(
                f"constraints={{{name!r}: {bound!r}}}: give a number that {name!r} may be at most"
            )
    return tuple(map(float, constraints.values()))


def _names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    if value and not isinstance(value, (str, Sequence)):
        raise GoalError(f'metric or mode {value!r}: must be a string or a list of strings, such as "loss"')
    return () if not value else (value,) if isinstance(value, str) else tuple(value)


def _direction(name: str) -> str | None:
    """Return the mode of a well-known metric: "score_loss" falls, "neg_mean_loss" grows; else None."""
    if not (falls := _DOWN.search(name)) and not _UP.search(name):
        return None
    return "min" if bool(falls) != bool(_NEGATED.search(name)) else "max"


def real(value: float) -> float:
    """Return a number as a float; infinite if an integer is too large for a float."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def is_finite(value: float) -> bool:
    """Return whether a number is finite; an integer too large for a float counts as infinite."""
    return -_LARGEST <= value <= _LARGEST


def is_number(value: Any) -> bool:
    """Return whether `value`, of a result, can be ranked; True and False cannot."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
