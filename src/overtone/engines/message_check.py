"""What a trial may say of itself: its messages are read well, and may still be about something else."""

from __future__ import annotations

from operator import itemgetter

from overtone.core.messages import Event, Reported, Saved, Start, Started
from overtone.errors import MessageError
from overtone.worker.message_codec import WRONG, Message

_OWN = (
    "time_this_iter_s", "time_total_s", "time_since_restore", "timesteps_total", "timestamp",
    "iterations_since_restore", "date", "done",
)  # fmt: skip
"""What the session adds to each result, and readers rely on; beside the number of the iteration."""

_OWN_NAMES = ", ".join(_OWN)
_own_of = itemgetter(*_OWN)
_TYPES = frozenset((float, float, float, steps, int, int, str, bool) for steps in (int, float, type(None)))


def check(message: Message, start: Start) -> None:
    """Refuse a message that is not about the trial of `start`, or not about its checkpoints.

    Raises:
        MessageError: It speaks for another trial, or of a checkpoint that is not the trial's.
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
    """Follows the results of one attempt: each has what its session adds, and the next number."""

    __slots__ = ("_t",)

    def __init__(self) -> None:
        self._t = 0

    def take(self, event: Event) -> None:
        """Take the next event of the attempt.

        Raises:
            MessageError: A field of the session's own is missing, or is not as a session writes it; or
                a number is not the next one.
        """
        if type(event) is Reported:
            metrics = event.metrics
            try:
                is_typed = tuple(map(type, _own_of(metrics))) in _TYPES
                is_own = is_typed and metrics["training_iteration"] == event.t
            except KeyError:
                is_own = False
            if not is_own:
                raise MessageError(f"a result in which {_OWN_NAMES} are not a session's: {event.raw[:200]!r}")
            if event.t != self._t + 1:
                raise MessageError(f"it reports result {event.t} after result {self._t}")
            self._t = event.t
        elif type(event) is Started:
            self._t = event.restored.t if event.restored is not None else 0
        kept = event.checkpoint if isinstance(event, (Reported, Saved)) else None
        if kept is not None and kept.t > self._t:
            raise MessageError(f"it saves result {kept.t} after result {self._t}")
