"""Requests of people and programs to a running experiment, and their effects as recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from overtone.core.limits import Limits
from overtone.core.message_class import message
from overtone.core.resources import Resources
from overtone.core.types import Config, Why

What = Literal[
    "stop",
    "stop_trial",
    "pause_trial",
    "resume_trial",
    "save_trial",
    "add",
    "set_limits",
    "set_priority",
    "note",
]


@message
class Requested:
    """A request of a person or program.

    `Controller.objection` says whether it can be carried out; ask it before `Controller.handle`.

    Attributes:
        what: `stop` the experiment; `stop_trial`; `pause_trial` until `resume_trial`; `save_trial`; `add` a
            trial; `set_limits`; `set_priority` of a trial; or `note`, which changes nothing.
        trial_id: The trial; "" if the request is about the experiment. In `add`, the trial to clone.
        note: A text for people: a reason, or the note itself.
        who: The requester and the way, such as "user1 from the command line"; "" if unknown.
        request: A unique id. Of several requests with one id, only the first has an effect; "" for
            a request that is never repeated.
        config: The config of `add`. If `trial_id` names a trial to clone, these values replace values of
            its config, also in nested dicts; None for an exact clone.
        resources: The demand of the added trial; None for the experiment's own rule.
        source: The trial whose newest checkpoint the added trial begins from, if any. A clone of a trial
            without a checkpoint begins anew.
        limits: New values of any of `max_concurrent` (None for no limit), `num_samples` (-1 for no
            limit) and `time_budget_s` (seconds since the experiment's start, None for no limit).
        priority: The priority of the trial, or of the added trial; higher starts first.
        deferred: Whether no driver ran: the request takes effect at the next Resumed.
    """

    time: float
    what: What
    trial_id: str = ""
    note: str = ""
    who: str = ""
    request: str = ""
    config: Config | None = None
    resources: Resources | None = None
    source: str | None = None
    limits: Mapping[str, Any] | None = None
    priority: float | None = None
    deferred: bool = False


@message
class Steered:
    """A choice: a request changed a trial or the limits; None for what did not change.

    Attributes:
        trial_id: The trial; "" if the limits changed.
        is_held: Whether the trial does not start until it is released.
        priority: The trial's new priority.
        limits: The new limits of the experiment.
    """

    trial_id: str = ""
    is_held: bool | None = None
    priority: float | None = None
    limits: Limits | None = None


PRIORITY_RULE = "a number, such as 5; higher starts first"


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a finite float can hold."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


_DONE = {
    "stop": "stopped",
    "stop_trial": "stopped",
    "pause_trial": "paused",
    "add": "added",
    "set_limits": "num_samples lowered",
}


def reason(event: Requested) -> Why:
    """Return the reason that a trial or the experiment gets from a request."""
    note = event.note
    if event.what in ("pause_trial", "add") or event.who:
        is_clone = event.what == "add" and event.trial_id
        done = f"clone of {event.trial_id}, added" if is_clone else _DONE[event.what]
        note = f"{done} by {event.who or 'a request'}{f': {note}' if note else ''}"
    return Why(event.what, note=note)


class Answered:
    """The newest requests that were handed in, by id, with the numbers of their records.

    A repeated request comes within seconds, so a few thousand are enough.
    """

    MOST = 10_000

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __contains__(self, request: str) -> bool:
        return request in self._numbers

    def get(self, request: str) -> int | None:
        """Return the number of a request's record, 0 if it is not written yet; None if it is unknown."""
        return self._numbers.get(request)

    def note(self, request: str, n: int) -> None:
        """Record the number of a request's record; nothing for a request without an id."""
        if not request:
            return
        self._numbers[request] = n
        if len(self._numbers) > self.MOST:
            del self._numbers[next(iter(self._numbers))]
