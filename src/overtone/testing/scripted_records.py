"""An experiment told step by step, as the records that a controller would have logged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core.messages import (
    Added,
    CapacityChanged,
    Cause,
    Choice,
    Ended,
    Event,
    Moved,
    Noted,
    Record,
    Reported,
    Requested,
    Ruled,
    Started,
    Steered,
    Suggested,
)
from overtone.core.resources import Resources
from overtone.core.types import Checkpoint, Config, Why


class Story:
    """Makes records, in order and numbered; each method returns the record and keeps it.

    >>> story = Story()
    >>> trial = story.add({"lr": 0.1})
    >>> story.start(trial).event.pid
    1000
    >>> story.report(trial, loss=0.5).event.t
    1

    Attributes:
        records: All that was told.
        time: When the next record happens, in seconds.
    """

    def __init__(self, prefix: str = "358bb") -> None:
        self.records: list[Record] = []
        self.time = 0.0
        self._prefix = prefix
        self._configs: dict[str, Config] = {}
        self._t: dict[str, int] = {}
        self._attempts: dict[str, int] = {}
        self._started: dict[str, float] = {}

    def capacity(self, nodes: Mapping[str, Mapping[str, float]] | None = None, **amounts: float) -> Record:
        """Record the capacity: by node, or `amounts` on one node."""
        return self._tell(CapacityChanged(self.time, nodes or {"127.0.0.1": amounts}))

    def add(self, config: Config, resources: Mapping[str, float] | None = None) -> str:
        """Add a trial, and return its id."""
        index = len(self._configs)
        trial = f"{self._prefix}_{index:05d}"
        self._configs[trial] = config
        self._attempts[trial] = self._t[trial] = 0
        added = Added(trial, index, config, Resources.of(resources or {"cpu": 1}), str(index))
        self._tell(Suggested(self.time, index, config), added)
        return trial

    def start(
        self,
        trial: str,
        node: str = "127.0.0.1",
        pid: int = 0,
        restored: Checkpoint | None = None,
        hostname: str = "host",
    ) -> Record:
        """Start the trial's process; the trial got its resources one record before."""
        attempt = self._attempts[trial]
        self._tell(Suggested(self.time, -1, None), Moved(trial, "STARTING", attempt))
        self._started[trial] = self.time
        pid = pid or 1000 + len(self.records)
        event = Started(self.time, trial, attempt, node, pid, hostname, restored)
        return self._tell(event, Moved(trial, "RUNNING", attempt))

    def report(
        self,
        trial: str,
        *choices: Choice,
        checkpoint: Checkpoint | None = None,
        **metrics: Any,
    ) -> Record:
        """Report a result, with the session's own fields."""
        self._t[trial] += 1
        own = {"training_iteration": self._t[trial], "time_total_s": self.time - self._started[trial]}
        event = Reported(
            self.time,
            trial,
            self._attempts[trial],
            self._t[trial],
            {**metrics, **own, "done": False},
            checkpoint,
        )
        return self._tell(event, *choices)

    def report_stopped(self, trial: str, why: Why, **metrics: Any) -> Record:
        """Record a result after which the trial is told to end."""
        t = self._t[trial] + 1
        return self.report(
            trial, Ruled(trial, t, "stop", why), Moved(trial, "HALTING", self._attempts[trial]), **metrics
        )

    def end(self, trial: str, cause: Cause = "returned", why: Why | None = None, error: str = "") -> Record:
        """End the trial for good: as ERROR if there is an error, else as TERMINATED."""
        attempt = self._attempts[trial]
        self._attempts[trial] += 1
        status = "ERROR" if error else "TERMINATED"
        event = Ended(self.time, trial, attempt, cause, error)
        return self._tell(event, Moved(trial, status, attempt + 1, why or Why(cause), error=error))

    def recover(self, trial: str, error: str) -> Record:
        """Let the trial fail, and wait to be tried again."""
        attempt = self._attempts[trial]
        self._attempts[trial] += 1
        event = Ended(self.time, trial, attempt, "raised", error)
        return self._tell(event, Moved(trial, "PENDING", attempt + 1, Why("raised"), error=error))

    def hold(self, trial: str, is_held: bool = True) -> Record:
        """Hold a trial that has no process by a request, or release it."""
        what: Any = "pause_trial" if is_held else "resume_trial"
        return self._tell(Requested(self.time, what, trial), Steered(trial, is_held=is_held))

    def note(self, text: str) -> Record:
        """Note a line that people should read once."""
        return self._tell(Suggested(self.time, -1, None), Noted(text))

    def _tell(self, event: Event, *choices: Choice) -> Record:
        record = Record(len(self.records) + 1, event, choices)
        self.records.append(record)
        return record
