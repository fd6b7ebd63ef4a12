"""Arguments of searchers that Ray Tune has and Overtone has not: an error shows what to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.errors import OvertoneError, UsageError
from overtone.lazy import nearest

_INSTEAD = {
    "outcome_constraints": 'give tune.run constraints={"latency": 20}: the most that each metric may be',
    "ax_client": "its settings are n_initial_points and method; the space and the goal are tune.run's",
}
_SILENT = ("verbose", "verbose_logging")


def refuse_others(searcher: Any, others: Mapping[str, Any]) -> None:
    """Let pass what `searcher` was given that only Ray Tune's has, and that nobody misses.

    Raises:
        OvertoneError: It is an argument of Ray Tune's that means something else here.
        TypeError: Nobody has such an argument.
    """
    who, code = type(searcher).__name__, type(searcher).__init__.__code__
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    for name, value in others.items():
        if name in _INSTEAD:
            if value is not None:
                raise OvertoneError(f"{who} has no {name}={value!r:.100}: {_INSTEAD[name]}")
        elif name not in _SILENT:
            raise UsageError(
                f"{who} has no argument {name!r}{nearest(name, known)} (known: {', '.join(known)})"
            )
