"""What a trial may say of itself: its messages are read well, and may still be about something else."""

from __future__ import annotations

from overtone.core.messages import Event, Reported, Start
from overtone.errors import MessageError
from overtone.worker.message_codec import WRONG, Message

_NUMBERS = frozenset({int, float})
_OWN = (
    ("time_this_iter_s", _NUMBERS),
    ("time_total_s", _NUMBERS),
    ("time_since_restore", _NUMBERS),
    ("timesteps_total", frozenset({int, float, type(None)})),
    ("timestamp", frozenset({int})),
    ("iterations_since_restore", frozenset({int})),
    ("date", frozenset({str})),
    ("done", frozenset({bool})),
)
"""What the session adds to each result, with the types that readers rely on."""


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


def check_result(event: Event) -> None:
    """Refuse a result that lacks what the session adds to each.

    Raises:
        MessageError: A field of the session's own is missing, or of another type.
    """
    if type(event) is not Reported:
        return
    metrics = event.metrics
    if metrics.get("training_iteration") != event.t:
        raise MessageError(f"a result of iteration {event.t} that says otherwise: {event.raw[:200]!r}")
    for name, types in _OWN:
        if type(metrics.get(name)) not in types:
            raise MessageError(f"a result without {name}, or with {metrics.get(name)!r:.100} there")
