"""The origin of an experiment that was imported from another tuner, by its journal's header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

IMPORTED = "imported"
"""The field of the header with the facts: `tuner`, `source`, `at` (seconds since 1970), others by tuner."""


def imported_facts(header: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts of an import; empty for an experiment that ran here."""
    facts = header.get(IMPORTED)
    return facts if isinstance(facts, Mapping) else {}


def origin_of(header: Mapping[str, Any]) -> str:
    """Return where an experiment was imported from, for people; "" for an experiment that ran here."""
    facts = imported_facts(header)
    if not facts:
        return ""
    study = facts.get("study")
    which = f"study {study!r} of " if isinstance(study, str) else ""
    return f"{which}{facts.get('source')} ({facts.get('tuner')})"


def how_to_go_on(path: str, header: Mapping[str, Any]) -> str:
    """Return the sentence about a search that goes on from an imported experiment."""
    return (
        f"{path} was imported from {origin_of(header)}: no command ran it here. To search on with what it "
        f"found: tune.run(..., warm_start={path!r}); to add trials to it: tune.run(..., resume=True) with "
        "its name"
    )
