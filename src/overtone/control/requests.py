"""Requests from outside, checked: a dict of fields becomes a `Requested`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, get_args

from overtone.control.answers import ControlError
from overtone.core.bounds import RULES, objection_to
from overtone.core.messages import Requested
from overtone.core.requests import PRIORITY_RULE, What, is_finite
from overtone.core.resources import Resources
from overtone.core.sizes import LONGEST_NAME, MOST_LEVELS
from overtone.errors import OvertoneError
from overtone.journal.text import dumps
from overtone.lazy import nearest

KINDS: tuple[str, ...] = get_args(What)
"""The values of `what`."""

ON_TRIALS = ("stop_trial", "pause_trial", "resume_trial", "save_trial", "set_priority")
"""The kinds of requests that must name a trial."""

WITHOUT_DRIVER = ("add", "note", "set_limits", "set_priority")
"""The kinds that can be recorded while no driver runs; they take effect at the next resume."""

_LONGEST_NOTE = 10_000
_FIELDS = tuple(one.name for one in fields(Requested) if one.name not in ("time", "deferred"))


def new_id() -> str:
    """Return an id for a request: equal ids are one request."""
    return os.urandom(12).hex()


def user_name() -> str:
    """Return the name of this process's user."""
    try:
        import pwd

        return pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError, AttributeError):
        return os.environ.get("USER") or os.environ.get("USERNAME") or "an unknown user"


def requested(document: Mapping[str, Any]) -> Requested:
    """Return the request in a document, with the time 0; unknown fields are ignored.

    Raises:
        ControlError: A field is missing or wrong.
    """
    try:
        given = {name: document[name] for name in _FIELDS if document.get(name) is not None}
        what = given.get("what")
        if what not in KINDS:
            hint = nearest(str(what), KINDS)
            raise ControlError(f"what={what!r}: must be one of {', '.join(KINDS)}{hint}", "wrong")
        checked = {name: _CHECKS[name](name, value) for name, value in given.items()}
        event = Requested(0.0, **checked)
    except ControlError:
        raise
    except OvertoneError as error:
        raise ControlError(str(error), "wrong") from None
    except Exception as error:  # Values of any kind come from outside; the way in must stay open.
        raise ControlError(
            f"the request makes no sense: {type(error).__name__}: {error!s:.200}", "wrong"
        ) from None
    if event.what in ON_TRIALS and not event.trial_id:
        raise ControlError(f"{event.what} must name a trial", "wrong")
    if event.what == "note" and not event.note.strip():
        raise ControlError("note='': must be a text", "wrong")
    if event.what == "set_limits" and not event.limits:
        raise ControlError(f"set_limits must have at least one of {', '.join(RULES)}", "wrong")
    if event.what == "set_priority" and event.priority is None:
        raise ControlError("set_priority must have a priority, such as 5", "wrong")
    return event


def document_of(event: Requested) -> dict[str, Any]:
    """Return a request as a document for the wire.

    Raises:
        ControlError: Its config has values that are not data, which cannot be sent to another process.
    """
    if event.config is not None and '{"__repr__":' in (text := dumps(event.config)):
        value = text.partition('{"__repr__":')[2]
        raise ControlError(f"config has the value {value:.60}, which is not data and cannot be sent", "wrong")
    document = {name: value for name in _FIELDS if (value := getattr(event, name)) not in (None, "")}
    if event.resources is not None:
        bundles = [dict(one) for one in event.resources.bundles]
        document["resources"] = {"bundles": bundles, "strategy": event.resources.strategy}
    return document


def _text(name: str, value: Any) -> str:
    most = _LONGEST_NOTE if name == "note" else LONGEST_NAME
    if not isinstance(value, str) or len(value) > most:
        raise ControlError(f"{name}={value!r:.80}: must be a text of up to {most:,} characters", "wrong")
    return value


def _config(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise ControlError(f'{name}={value!r:.80}: must be a dict, such as {{"lr": 0.01}}', "wrong")
    if _depth(value) > MOST_LEVELS:
        raise ControlError(f"{name} has more than {MOST_LEVELS} levels", "wrong")
    return dict(value)


def _depth(value: Any, most: int = MOST_LEVELS) -> int:
    if most < 0 or not isinstance(value, (Mapping, list, tuple)):
        return 0
    parts = value.values() if isinstance(value, Mapping) else value
    return 1 + max((_depth(part, most - 1) for part in parts), default=0)


def _resources(name: str, value: Any) -> Resources:
    if isinstance(value, Resources):
        return value
    if isinstance(value, Mapping) and set(value) == {"bundles", "strategy"}:
        return Resources.of(value["bundles"], value["strategy"])
    return Resources.of(value)


def _limits(name: str, value: Any) -> dict[str, Any]:
    if (reason := objection_to(value)) is not None:
        raise ControlError(reason, "wrong")
    return dict(value)


def _priority(name: str, value: Any) -> float:
    if not is_finite(value):
        raise ControlError(f"priority={value!r:.80}: must be {PRIORITY_RULE}", "wrong")
    return float(value)


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("what", "trial_id", "note", "who", "request", "source"), _text),
    "config": _config,
    "resources": _resources,
    "limits": _limits,
    "priority": _priority,
}
