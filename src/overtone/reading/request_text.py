"""Requests as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.core import messages as m

_ASKED = {
    "stop": "stop the experiment",
    "stop_trial": "end",
    "pause_trial": "pause",
    "resume_trial": "go on",
    "save_trial": "save",
}


def asked(event: m.Requested) -> str:
    """Return a request as a sentence without its subject, or with the requester as its subject."""
    who, text = event.who, event.note.strip()
    note = f": {text}" if text else ""
    by = f" by {who}" if who else ""
    match event.what:
        case "note":
            return f"note{by}{note}"
        case "add":
            what = f"a clone of {event.trial_id}" if event.trial_id else "a trial"
            return f"{what} was added{by}{note}"
        case "set_priority":
            return f"its priority was set to {event.priority:g}{by}{note}"
        case "set_limits":
            limits = ", ".join(f"{name}={value}" for name, value in (event.limits or {}).items())
            return f"limits were set to {limits}{by}{note}"
        case _:
            did = _ASKED[event.what]
            subject = f"{who} asked" if who else "was asked"
            is_about_it = who and event.what != "stop"
            return f"{subject} {'it ' if is_about_it else ''}to {did}{note}"


def is_study(header: Mapping[str, Any]) -> bool:
    """Return whether a program asked for the trials of this experiment, and ran them itself."""
    return bool(header.get("parts", {}).get("engine") == "Asked")


def interruption(header: Mapping[str, Any]) -> str:
    """Return a sentence about the end of a driver, of which the journal has a record."""
    return "the study was closed" if is_study(header) else "the experiment was interrupted (Ctrl-C)"


def noted(text: str) -> str:
    """Return `: ` and the first line of a text; "" for an empty text."""
    line = text.strip().split("\n", 1)[0]
    return f": {line}" if line else ""
