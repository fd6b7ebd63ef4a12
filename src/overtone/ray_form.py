"""Names and advice that schedulers and searchers in Ray Tune's form share."""

from __future__ import annotations

from typing import Any

from overtone.standard_streams import say

_advised: set[tuple[str, str]] = set()


class GoalNames:
    """Gives the goal of an algorithm, `metric` and `mode`, the names of Ray Tune's attributes."""

    @property
    def _metric(self) -> Any:
        """The metric."""
        return vars(self).get("metric")

    @_metric.setter
    def _metric(self, metric: Any) -> None:
        vars(self)["metric"] = metric

    @property
    def _mode(self) -> Any:
        """The direction, "max" or "min"."""
        return vars(self).get("mode")

    @_mode.setter
    def _mode(self, mode: Any) -> None:
        vars(self)["mode"] = mode


def own_part(given: Any, name: str) -> Any:
    """Return the part of the goal that an algorithm names itself, as `metric` or `_metric`; None if none."""
    return getattr(given, name, None) or getattr(given, f"_{name}", None)


def advise_once(algorithm: Any, advice: str) -> None:
    """Print one line that begins with the algorithm's class, once for each class and advice."""
    kind = type(algorithm)
    if (kind.__qualname__, advice) not in _advised:
        _advised.add((kind.__qualname__, advice))
        say(f"{kind.__name__} {advice}")
