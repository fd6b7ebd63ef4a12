"""The requests that people make of a running experiment, as methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overtone.control.answers import Answer
    from overtone.core.messages import Requested

UNCHANGED: Any = object()
"""A limit that stays as it is."""


class Verbs(ABC):
    """Steers an experiment. Each call returns when the request is in the journal.

    A trial is named by its id, by a unique beginning or end of its id, or by its index, such as 3 or "3".

    Each method raises a `ControlError` if the request is refused or no driver answers.
    """

    _way = "Python"

    @abstractmethod
    def _send(self, event: Requested) -> Answer:
        """Make a request and return its answer."""

    @abstractmethod
    def stack(self, trial_id: str) -> str:
        """Return the stacks of a trial's processes and the states of their children, for people.

        It leaves no record. Takes some seconds if a process does not answer.
        """

    def stop(self, note: str = "") -> Any:
        """End the search: running trials save and end.

        Args:
            note: The reason, for the journal.
        """
        return self._ask("stop", note=note).n

    def stop_trial(self, trial_id: str | int, note: str = "") -> int:
        """End a trial; return the number of the record in the journal."""
        return self._ask("stop_trial", trial_id=trial_id, note=note).n

    def pause(self, trial_id: str | int, note: str = "") -> int:
        """Let a trial save and wait until `resume`; its resources are free meanwhile.

        The process of a trial that cannot save waits inside `report()`.

        Returns:
            The number of the record in the journal, as for the other methods.
        """
        return self._ask("pause_trial", trial_id=trial_id, note=note).n

    def resume(self, trial_id: str | int, note: str = "") -> int:
        """Let a paused trial go on; return the number of the record."""
        return self._ask("resume_trial", trial_id=trial_id, note=note).n

    def save(self, trial_id: str | int, note: str = "") -> int:
        """Let a trial save a checkpoint at its next report; return the number of the record."""
        return self._ask("save_trial", trial_id=trial_id, note=note).n

    def add(
        self,
        config: Mapping[str, Any] | None = None,
        resources: Any = None,
        source: str | int | None = None,
        *,
        priority: float | None = None,
        note: str = "",
    ) -> str:
        """Add a trial, also to a search that is over.

        Args:
            config: Values of its config, nested or with "a/b" for what lies deeper. Values that are
                missing are drawn from the space.
            resources: Its demand, such as `{"cpu": 2}`; None for that of the other trials.
            source: The trial whose newest checkpoint it begins with; None to begin anew.
            priority: Higher starts first; None for the rule of the experiment.
            note: The reason, for the journal.

        Returns:
            The new trial's id; "" if no driver runs: it gets its id at the next resume.
        """
        return self._ask(
            "add", config=dict(config or {}), resources=resources, source=source, priority=priority, note=note
        ).trial_id

    def clone(self, trial_id: str | int, anew: bool = False, /, **changes: Any) -> str:
        """Add a trial with the config and the newest checkpoint of another; return its id, as `add` does.

        Args:
            trial_id: The trial to clone.
            anew: Whether the clone begins without the checkpoint.
            changes: Other values in its config.
        """
        source = None if anew else trial_id
        return self._ask("add", trial_id=trial_id, source=source, config=changes or None).trial_id

    def set_limits(
        self,
        *,
        max_concurrent: int | None = UNCHANGED,
        num_samples: int = UNCHANGED,
        time_budget_s: float | None = UNCHANGED,
    ) -> int:
        """Change limits of the experiment. They hold for what starts next: no running trial is ended.

        Args:
            max_concurrent: Most trials at the same time; None for no limit.
            num_samples: Number of samples; -1 for no limit.
            time_budget_s: Seconds after the experiment's start at which it ends; None for no limit.

        Returns:
            The number of the record.
        """
        given = {"max_concurrent": max_concurrent, "num_samples": num_samples, "time_budget_s": time_budget_s}
        limits = {name: value for name, value in given.items() if value is not UNCHANGED}
        return self._ask("set_limits", limits=limits).n

    def set_priority(self, trial_id: str | int, priority: float, note: str = "") -> int:
        """Set a trial's priority: higher starts first; return the number of the record."""
        return self._ask("set_priority", trial_id=trial_id, priority=priority, note=note).n

    def note(self, text: str, trial_id: str | int = "") -> int:
        """Write a note into the journal, on the experiment or on a trial; return the number of the record."""
        return self._ask("note", note=text, trial_id=trial_id).n

    def _ask(self, what: str, **given: Any) -> Answer:
        return self._send(self._request(what, **given))

    def _request(self, what: str, **given: Any) -> Requested:
        from overtone.control.requests import new_id, requested, user_name

        for name in ("trial_id", "source"):
            if type(given.get(name)) is int:
                given[name] = str(given[name])
        who = f"{user_name()} from {self._way}"
        return requested({"what": what, "who": who, "request": new_id(), **given})
