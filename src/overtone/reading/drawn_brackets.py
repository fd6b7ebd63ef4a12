"""The brackets that a scheduler drew for its trials, by its recorded settings: before a ruling names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.schedulers.asha import ASHAScheduler
from overtone.schedulers.moasha import MOASHA

BracketOf = Callable[[str], int | None]
"""Returns the number of a trial's bracket, from 1; None if it is not known, or there is only one."""

_DRAWING: dict[str, type[ASHAScheduler] | type[MOASHA]] = {
    f"{made.__module__}.{made.__qualname__}": made for made in (ASHAScheduler, MOASHA)
}


def unknown_bracket(trial_id: str) -> int | None:
    """Return None: only rulings name the brackets."""
    return None


def drawn_brackets(header: Mapping[str, Any]) -> BracketOf:
    """Return how the brackets of an experiment were drawn.

    Args:
        header: The header of its journal, or "seed" and "parts" of it.
    """
    seed, parts = header.get("seed"), header.get("parts")
    scheduler = parts.get("scheduler") if isinstance(parts, dict) else None
    path, arguments = (
        (scheduler.get("path"), scheduler.get("arguments")) if isinstance(scheduler, dict) else ("", None)
    )
    made = _DRAWING.get(path) if isinstance(path, str) else None
    if made is None or not isinstance(arguments, dict) or not isinstance(seed, int):
        return unknown_bracket
    if arguments.get("brackets", 1) == 1:
        return unknown_bracket
    try:
        draw = made(**arguments).bracket_draw
    except (TypeError, ValueError):  # settings of another version
        return unknown_bracket
    return lambda trial_id: draw.number(seed, trial_id)
