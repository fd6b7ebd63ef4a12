"""Checks that well-formed messages of a trial are about this trial and in order."""

from __future__ import annotations

from operator import itemgetter

from overtone.core.messages import Event, Reported, Saved, Start, Started
from overtone.core.types import Metrics
from overtone.errors import MessageError
from overtone.worker.message_codec import WRONG, Message

_OWN = (
    "time_this_iter_s", "time_total_s", "time_since_restore", "timesteps_total", "timestamp",
    "iterations_since_restore", "date", "done", "training_iteration",
)  # fmt: skip
"""Fields that the session adds to each result and that readers rely on."""

_OWN_NAMES = ", ".join(_OWN)
_own_of = itemgetter(*_OWN)
_STEPS = frozenset({int, float, type(None)})


def check(message: Message, start: Start) -> None:
    """Refuse a message that is not about the trial of `start`, or not about its checkpoints.

    Raises:
        MessageError: The message names another trial, or a checkpoint of another trial.
    """
    kind = message[0]
    if kind == WRONG:
        raise MessageError(message[1])
    if message[1] != start.trial_id or message[2] != start.attempt:
        raise MessageError(f"{kind!r} of trial {message[1]!r:.100}, attempt {message[2]}, which is not in it")
    if kind == "started":
        origin = message[5]
        if origin is not None and origin not in (start.checkpoint, *start.fallbacks):
            raise MessageError(f"it goes on from {origin.uri!r:.200}, which it was not given")
    elif kind == "reported" or kind == "saved":
        kept = message[-1]
        if kept is not None and kept.trial_id != start.trial_id:
            raise MessageError(f"it has saved a checkpoint of trial {kept.trial_id!r:.100}")
        if kept is not None and kept.uri.replace("\\", "/").split("/")[-2:-1] != [start.trial_id]:
            raise MessageError(f"its checkpoint {kept.uri!r:.200} does not lie in the trial's folder")


class ResultCheck:
    """Checks the results of one attempt: each has the session's fields, and the next number."""

    __slots__ = ("_t",)

    def __init__(self) -> None:
        self._t = 0

    def take(self, event: Event) -> None:
        """Check the next event of the attempt.

        Raises:
            MessageError: A field of the session is missing or has another type than the session writes,
                or a result is not the next one.
        """
        if type(event) is Reported:
            if not _is_own(event.metrics, event.t):
                raise MessageError(f"a result in which {_OWN_NAMES} are not a session's: {event.raw[:200]!r}")
            if event.t != self._t + 1:
                raise MessageError(f"it reports result {event.t} after result {self._t}")
            self._t = event.t
            if event.checkpoint is None:  # as nearly all
                return
        elif type(event) is Started:
            self._t = event.restored.t if event.restored is not None else 0
        kept = event.checkpoint if isinstance(event, (Reported, Saved)) else None
        if kept is not None and kept.t > self._t:
            raise MessageError(f"it saves result {kept.t} after result {self._t}")


def _is_own(metrics: Metrics, t: int) -> bool:
    """Return whether the session's fields are present and valid for result `t`."""
    try:
        this, total, since, steps, timestamp, n_here, date, done, iteration = _own_of(metrics)
    except KeyError:
        return False
    # one by one: a tuple of the types takes three times as long
    return (
        type(this) is float and type(total) is float and type(since) is float and type(steps) in _STEPS
        and type(timestamp) is int and type(n_here) is int and type(date) is str and type(done) is bool
        and type(iteration) is int and iteration == t
    )  # fmt: skip
