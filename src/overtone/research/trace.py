"""The best value so far: each time that a search finds a better one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overtone.core.goal import lookup
from overtone.core.messages import Ended, Record, Reported, Started
from overtone.core.protocols import Observer, Stopper
from overtone.core.trial import Trial
from overtone.core.types import Result


@dataclass(frozen=True, slots=True)
class Better:
    """A result that was better than all before.

    Attributes:
        time_s: When it came, in virtual seconds.
        value: The metric's.
        n_trials: How many trials had been started by then.
        n_results: How many results there were, with this one.
    """

    time_s: float
    value: float
    n_trials: int
    n_results: int


class Trace(Observer):
    """Follows a search and keeps what became better, and when.

    Attributes:
        steps: The improvements; the newest is the best.
        n_results: How many there were.
        time_s: Of the newest record.
    """

    def __init__(self, metric: str, mode: str) -> None:
        self.steps: list[Better] = []
        self.n_results = 0
        self.time_s = 0.0
        self._started: set[str] = set()
        self._metric, self._sign = metric, 1.0 if mode == "max" else -1.0
        self._best = float("-inf")
        self._is_known, self._error = False, ""

    def on_record(self, record: Record) -> None:
        event = record.event
        self.time_s = event.time
        if type(event) is Reported:
            self.n_results += 1
            value: Any = lookup(event.metrics, self._metric)
            if isinstance(value, (int, float)):
                self._is_known = True
                if self._sign * value > self._best:  # NaN never is
                    self._best = self._sign * value
                    self.steps.append(Better(event.time, float(value), self.n_trials, self.n_results))
        elif type(event) is Started:
            self._started.add(event.trial_id)
        elif type(event) is Ended:
            self._error = self._error or event.error

    def trouble(self) -> str:
        """Return why no result had the metric; "" if a result had it, or without results and errors."""
        if self._is_known or not (self.n_results or self._error):
            return ""
        return f"no result has {self._metric!r} as a number" + (f": {self._error}" if self._error else "")

    @property
    def n_trials(self) -> int:
        """The number of started trials."""
        return len(self._started)


class AtTarget(Stopper):
    """Ends a search at the first result that is as good as the target."""

    def __init__(self, target: float, mode: str) -> None:
        self._target = target if mode == "max" else -target
        self._shown = f"a value as good as {target:g}"
        self._is_reached = False

    def __call__(self, trial: Trial, result: Result) -> str | None:
        if result.score >= self._target:
            self._is_reached = True
        return None

    def stop_all(self) -> str | None:
        return f"{self._shown} was found" if self._is_reached else None

    def __repr__(self) -> str:
        return f"AtTarget({self._shown})"
