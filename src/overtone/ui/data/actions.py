"""Actions of the page: requests to a run, in the name of the user who asks."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from overtone.control.answers import ControlError
from overtone.control.holder import holder, this_host
from overtone.control.requests import WITHOUT_DRIVER, requested, user_name
from overtone.errors import ArgumentError, OvertoneError
from overtone.lazy import nearest

WAY = "the dashboard"
KILL = "kill_driver"

_OWN_WORDS = {"pause": "pause_trial", "resume": "resume_trial", "save": "save_trial", "clone": "add",
              "limits": "set_limits", "priority": "set_priority"}  # fmt: skip
_LIMITS = {"concurrency": "max_concurrent", "num_samples": "num_samples", "time": "time_budget_s"}


class ActionError(OvertoneError):
    """An action was refused.

    Attributes:
        error: The reason, as text.
        allowed: The verbs that are possible now.
    """

    def __init__(self, error: str, allowed: tuple[str, ...] = ()) -> None:
        super().__init__(error)
        self.error = error
        self.allowed = allowed


def act(
    journal: Path, verb: str, trial_id: str, args: Mapping[str, Any], request_id: str, is_demo: bool = False
) -> dict[str, Any]:
    """Carry out an action; return {"n": its record, "trial_id", "waits", "text"}.

    Args:
        journal: The experiment's journal.
        verb: One of `VERBS`, or `KILL` if `is_demo`.
        trial_id: The trial; "" for actions on the experiment.
        args: The values of the verb.
        request_id: Equal ids are one request, so that a double click or a retry is one record.

    Raises:
        ActionError: It was refused, or no driver took it.
        ArgumentError: The verb has no value of such a name.
    """
    if verb == KILL and is_demo:
        return _kill(journal, request_id)
    if verb not in VERBS:
        raise ActionError(f"verb {verb!r}: must be one of {', '.join(VERBS)}", tuple(VERBS))
    if unknown := [name for name in args if name not in ARGUMENTS[verb]]:
        known = ARGUMENTS[verb]
        meant = f"{unknown[0]!r:.100}{nearest(unknown[0], known)}"
        raise ArgumentError(f"{verb} has no argument {meant} (known: {', '.join(known)})")
    from overtone.engines.request_delivery import deliver

    try:
        fields = VERBS[verb](trial_id, args)
        given = {name: value for name, value in fields.items() if value is not None}
        who = f"{user_name()} from {WAY}"
        event = requested({**given, "who": who, "request": request_id[:100]})
        answer = deliver(journal.parent, event)
    except (TypeError, ValueError, AttributeError) as error:
        raise ActionError(f"{verb}: {error}", allowed(journal)) from None
    except OvertoneError as error:
        raise ActionError(str(error), allowed(journal)) from None
    about = f" {answer.trial_id}" if answer.trial_id else ""
    text = f"{verb.replace('_', ' ')}{about}: record {answer.n}"
    if answer.waits and verb != "note":
        text += "; no driver runs: it takes effect when the experiment is resumed"
    return {"n": answer.n, "trial_id": answer.trial_id or None, "waits": answer.waits, "text": text}


def allowed(journal: Path) -> tuple[str, ...]:
    """Return the verbs that are possible now."""
    if holder(journal, watches=False) is not None:
        return tuple(VERBS)
    return tuple(verb for verb in VERBS if _OWN_WORDS.get(verb, verb) in WITHOUT_DRIVER)


def _on_trial(what: str) -> Callable[[str, Mapping[str, Any]], dict[str, Any]]:
    return lambda trial_id, args: {"what": what, "trial_id": trial_id, "note": args.get("note")}


def _add(trial_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: args.get(name) for name in ARGUMENTS["add"]}
    return {"what": "add", **given, "config": args.get("config") or {}}


def _clone(trial_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
    source = trial_id or args.get("source")
    if not source:
        raise ControlError("clone must name a trial", "wrong")
    return {
        "what": "add", "trial_id": source, "source": None if args.get("anew") else source,
        "config": args.get("changes") or None, "priority": args.get("priority"), "note": args.get("note"),
    }  # fmt: skip


def _limits(trial_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
    limits = {own: args[name] for name, own in _LIMITS.items() if name in args}
    if not limits:
        raise ControlError(f"limits must have at least one of {', '.join(_LIMITS)}", "wrong")
    return {"what": "set_limits", "limits": limits, "note": args.get("note")}


def _stop(trial_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
    return {"what": "stop", "note": args.get("note")}


def _priority(trial_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
    return {"what": "set_priority", "trial_id": trial_id, "priority": args.get("priority"),
            "note": args.get("note")}  # fmt: skip


def _note(trial_id: str, args: Mapping[str, Any]) -> dict[str, Any]:
    return {"what": "note", "trial_id": trial_id, "note": args.get("text", args.get("note"))}


VERBS: dict[str, Callable[[str, Mapping[str, Any]], dict[str, Any]]] = {
    "stop": _stop,
    "stop_trial": _on_trial("stop_trial"),
    "pause": _on_trial("pause_trial"),
    "resume": _on_trial("resume_trial"),
    "save": _on_trial("save_trial"),
    "add": _add,
    "clone": _clone,
    "limits": _limits,
    "priority": _priority,
    "note": _note,
}
"""The verbs of the page, and what each asks."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(VERBS, ("note",)),
    "add": ("config", "resources", "source", "priority", "note"),
    "clone": ("changes", "anew", "source", "priority", "note"),
    "limits": (*_LIMITS, "note"),
    "priority": ("priority", "note"),
    "note": ("text", "note"),
}
"""The names of the values that each verb takes."""


@lru_cache(maxsize=100)
def _kill(journal: Path, request_id: str) -> dict[str, Any]:
    """End the driver by force; a request that comes again gets the same answer, and kills nothing."""
    by = holder(journal, watches=False)
    if by is None or by.pid is None:
        raise ActionError("no driver runs this experiment", allowed(journal))
    if by.hostname != this_host():
        raise ActionError(f"the driver is {by}, which is another machine", allowed(journal))
    if by.pid == os.getpid():
        raise ActionError("the driver is this process", allowed(journal))
    try:
        os.kill(by.pid, signal.SIGKILL)
    except OSError as error:
        raise ActionError(f"{by} cannot be killed: {error.strerror}", allowed(journal)) from None
    return {"n": None, "trial_id": None, "waits": False, "text": f"{by} was killed"}
