"""The choices that a journal recorded for an event, supplied while the event is replayed.

The scheduler decides again, to rebuild its state. If it decides differently than before (its
code was edited), the journal takes precedence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, SAVE, Add, Continue, Decision, Pause, Restart, Ruling, Stop
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Why
from overtone.errors import StorageError

_STARTS = ("STARTING", "RUNNING")
_NO_WHY = Why("")


class RecordedChoices:
    """The choices of one record, in the order in which they were made.

    Attributes:
        differs: Differences, as (choice of today's code, recorded choice).
        is_late: Whether all else of the event is done, so that the recorded starts must happen now.
    """

    def __init__(self, choices: Sequence[m.Choice]) -> None:
        self.differs: list[tuple[str, str]] = []
        self.is_late = False
        self._ruled = deque(one for one in choices if type(one) is m.Ruled and one.what != "redone")
        self._added = deque(one for one in choices if type(one) is m.Added)
        self._moved = [one for one in choices if type(one) is m.Moved]
        self._restarts = [one for one in self._moved if one.config is not None]
        self._resized = [one for one in self._moved if one.config is None and one.resources is not None]
        self._started = deque(
            one for one in self._moved if one.status in _STARTS and one.placement is not None
        )

    def decision(self, trial: Trial, t: float, now: Decision) -> Decision:
        """Return the recorded decision on the report of `trial`; `now` is the decision of today's code."""
        first = self._ruled[0] if self._ruled else None
        then: Decision = CONTINUE
        if first is not None and first.trial_id == trial.id and first.t == t:
            then = _decision(self._ruled.popleft())
        self._compare(now, then)
        return then

    def rulings(self, now: Iterable[Ruling]) -> Iterator[Ruling]:
        """Yield the recorded rulings of a review, in the order of today's rulings up to the first difference.

        Args:
            now: The rulings that change something, each once the rulings before it are carried out.
        """
        for trial_id, decision in now:
            if isinstance(decision, Add):
                added = [one.config for one in self._added if one.why is not None]
                self._compare([decision.config], added[:1])
            else:
                then = [(one.trial_id, _decision(one)) for one in islice(self._ruled, 1)]
                self._compare([(trial_id, decision)], then)
            if self.differs:
                yield from self.rest()
                return
            if isinstance(decision, Add):
                yield trial_id, decision
            else:
                self._ruled.popleft()
                yield then[0]

    def rest(self) -> list[Ruling]:
        """Return the recorded rulings that no review of today's code has made."""
        found: list[Ruling] = [(one.trial_id, _decision(one)) for one in self._ruled]
        new = [("", Add(one.config, one.source, one.why)) for one in self._added if one.why is not None]
        self._ruled.clear()
        return [*found, *new]

    @property
    def has_added(self) -> bool:
        """Whether a trial was created that is not created again yet."""
        return bool(self._added)

    def added(self) -> m.Added:
        """Return the record of the trial that is created again now.

        Raises:
            StorageError: The journal has no trial here.
        """
        if not self._added:
            raise StorageError("the journal has no trial where one is made today")
        return self._added.popleft()

    def demand(self, trial: Trial) -> Resources | None:
        """Return the demand of a trial when it was restarted with another config; None if unknown."""
        for one in self._restarts:
            if one.trial_id == trial.id:
                self._restarts.remove(one)
                unchanged = trial.resources if trial.status is not Status.PENDING else None
                return one.resources or unchanged
        return None

    def resized(self, trial_id: str) -> Resources | None:
        """Return the demand that a trial got apart from restarts; None if it kept its own."""
        for one in self._resized:
            if one.trial_id == trial_id:
                self._resized.remove(one)
                return one.resources
        return None

    def started(self, now: Trial | None, trials: Mapping[str, Trial]) -> Trial | None:
        """Return the trial that was started next, or None; `now` is the choice of today's code."""
        then = trials.get(self._started[0].trial_id) if self._started else None
        if then is not None:
            self._started.popleft()
        self._compare(now and now.id, then and then.id)
        return then

    def has_ended(self, rule: str) -> bool:
        """Return whether trials ended by this rule."""
        return any(one.why is not None and one.why.rule == rule for one in self._moved)

    def ends(self, trial_id: str) -> bool:
        """Return whether this trial ended for good."""
        return any(one.trial_id == trial_id and Status(one.status).is_final for one in self._moved)

    def has_more_starts(self) -> bool:
        """Return whether today's code started fewer trials."""
        return bool(self._started)

    def take_differs(self) -> list[tuple[str, str]]:
        """Return and clear the differences: a `RecordedChoices` without choices serves many events."""
        found, self.differs = self.differs, []
        return found

    def differing(self, now: Decision) -> list[tuple[str, str]]:
        """Return the differences if today's decision is `now` and the journal has none."""
        self._compare(now, CONTINUE)
        return self.take_differs()

    def finish(self) -> None:
        """End the event: recorded choices left over were not made by today's code."""
        for one in (*self._ruled, *self._started, *self._added):
            self.differs.append(("nothing", repr(one)))

    def _compare(self, now: object, then: object) -> None:
        if now is then or now == then:
            return
        if repr(_action(now)) != repr(_action(then)):  # NaN equals only by its repr.
            self.differs.append((repr(now), repr(then)))


def actions(choices: Iterable[m.Choice]) -> tuple[m.Choice, ...]:
    """Return the choices without their reasons, whose wording may change from version to version."""
    return tuple(_action(one) for one in choices if type(one) is not m.Noted)


def _action(choice: Any) -> Any:
    """Return a choice, or several, without the reasons."""
    if isinstance(choice, (list, tuple)):
        return [_action(one) for one in choice]
    return choice if getattr(choice, "why", None) is None else replace(choice, why=_NO_WHY)


def _decision(ruled: m.Ruled) -> Decision:
    why = ruled.why or _NO_WHY
    match ruled.what:
        case "stop":
            return Stop(why)
        case "pause":
            return Pause(why)
        case "restart":
            return Restart(ruled.config or {}, ruled.source, why, ruled.resources)
        case "continue":
            return Continue(ruled.config)
        case _:
            return SAVE
