"""The limits that count now: as given by the newest driver, and as changed by requests since then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from overtone.core.limits import Limits
from overtone.core.requests import is_finite
from overtone.lazy import nearest

_STEERED = ("total", "max_concurrent", "time_budget_s")
"""The limits that a request may change."""


class Bounds:
    """Holds the limits of an experiment.

    Args:
        given: The limits at the start.
        total_for: Returns the number of suggestions for a number of samples; None for no limit.
        most_concurrent: The largest number of trials that the engine runs at the same time, if limited.
        needs_population: Whether all suggestions are requested at the start.

    Attributes:
        given: The limits as the newest driver got them.
        now: The limits that count.
    """

    def __init__(
        self,
        given: Limits,
        total_for: Callable[[int], int | None] | None = None,
        most_concurrent: int | None = None,
        needs_population: bool = False,
    ) -> None:
        self.given = self.now = given
        self._total_for = total_for or (lambda num_samples: None if num_samples < 0 else num_samples)
        self._most_concurrent = most_concurrent
        self._needs_population = needs_population

    def resume(self, given: Limits) -> None:
        """Take the limits of a new driver; a limit that equals the last driver's keeps its value of now."""
        kept = {
            name: getattr(self.now, name)
            for name in _STEERED
            if getattr(given, name) == getattr(self.given, name)
        }
        self.given, self.now = given, replace(given, **kept)
        self._widen()

    def change(self, limits: Mapping[str, Any]) -> None:
        """Apply the limits of a request that `objection` accepts."""
        changed = {name: limits[name] for name in ("max_concurrent", "time_budget_s") if name in limits}
        if "num_samples" in limits:
            changed["total"] = self._total_for(limits["num_samples"])
        most = self._most_concurrent
        if most is not None and "max_concurrent" in changed:
            changed["max_concurrent"] = min(changed["max_concurrent"] or most, most)
        self.now = replace(self.now, **changed)
        self._widen()

    def objection(self, limits: Mapping[str, Any] | None) -> str | None:
        """Return why limits cannot be set, as a sentence; None if they can."""
        if (reason := objection_to(limits)) is not None or limits is None:
            return reason
        concurrent, most = limits.get("max_concurrent"), self._most_concurrent
        if concurrent is not None and most is not None and concurrent > most:
            return f"max_concurrent={concurrent}: this engine runs at most {most} at the same time"
        return None

    def _widen(self) -> None:
        """Let suggestions be drawn early, as the driver does with this total.

        A search without a total draws none. A scheduler that needs its whole population gets it at once.
        """
        total, lookahead = self.now.total, self.given.lookahead
        if total is None and self.given.total is not None:
            lookahead = 0
        elif total is not None and total != self.given.total and self._needs_population:
            lookahead = max(lookahead, total)
        self.now = replace(self.now, lookahead=lookahead)


def objection_to(limits: Any) -> str | None:
    """Return why no experiment can have these limits, as a sentence; None if one can."""
    if not isinstance(limits, Mapping) or not limits:
        return f"limits={limits!r:.100}: must be a mapping with some of {', '.join(RULES)}"
    for name, value in limits.items():
        if name not in RULES:
            return f"limits has no {name!r:.100}: it may have {', '.join(RULES)}{nearest(str(name), RULES)}"
        is_allowed, rule = RULES[name]
        if not is_allowed(value):
            return f"{name}={value!r:.100}: must be {rule}"
    return None


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MOST


MOST = 10**15
"""The largest number of samples or of concurrent trials."""

RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "max_concurrent": (
        lambda value: value is None or _is_count(value),
        "a whole number of at least 1, or None for no limit",
    ),
    "num_samples": (
        lambda value: _is_count(value) or value == -1,
        "a whole number of at least 1, or -1 for no limit",
    ),
    "time_budget_s": (
        lambda value: value is None or (is_finite(value) and value > 0),
        "a positive number of seconds since the experiment's start, or None for no limit",
    ),
}
"""The limits that a request may set: whether a value is allowed, and the rule in words."""
