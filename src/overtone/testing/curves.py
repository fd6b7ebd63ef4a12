"""Synthetic learning curves: functions of (config, t), with no state and no hidden randomness."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

from overtone.core.randomness import keyed

Curve = Callable[[Mapping[str, Any], int], Any]
"""Metrics after `t` iterations; (metrics, seconds) where time varies; None at the end."""


def exponential(config: Mapping[str, Any], t: int) -> dict[str, float]:
    """Return an accuracy that rises to `config["best"]` with the rate `config["rate"]`."""
    best, rate = config.get("best", 0.9), config.get("rate", 0.1)
    accuracy = best * (1 - math.exp(-rate * t))
    return {"accuracy": accuracy, "loss": 1 - accuracy}


def quadratic(config: Mapping[str, Any], t: int) -> dict[str, float]:
    """Return a loss that falls towards (x - 1)^2 + (y + 2)^2 as 1/t: the best point is (1, -2)."""
    floor = (config.get("x", 0.0) - 1) ** 2 + (config.get("y", 0.0) + 2) ** 2
    return {"loss": floor + 1 / t}


def crossing(config: Mapping[str, Any], t: int) -> dict[str, float]:
    """Slow configs win in the end: a low `config["rate"]` reaches a higher accuracy, later."""
    rate = config.get("rate", 0.1)
    return {"accuracy": (1 - rate / 2) * (1 - math.exp(-rate * t))}


def ending(curve: Curve, length: int) -> Curve:
    """Return `curve`, ending after `length` iterations."""

    def shortened(config: Mapping[str, Any], t: int) -> Any:
        return None if t > length else curve(config, t)

    return shortened


def noisy(curve: Curve, scale: float, seed: int = 0) -> Curve:
    """Return `curve` with normal noise on each number, the same for the same config and t."""

    def disturbed(config: Mapping[str, Any], t: int) -> dict[str, float]:
        random = keyed(seed, "noise", repr(sorted(config.items())), t)
        return {name: value + random.gauss(0, scale) for name, value in curve(config, t).items()}

    return disturbed


def irregular(curve: Curve, shortest_s: float = 1.0, longest_s: float = 1000.0, seed: int = 0) -> Curve:
    """Return `curve`, where each config takes its own time for an iteration, log-uniform."""

    def timed(config: Mapping[str, Any], t: int) -> tuple[Any, float] | None:
        share = keyed(seed, "length", repr(sorted(config.items()))).random()
        metrics = curve(config, t)
        return None if metrics is None else (metrics, shortest_s * (longest_s / shortest_s) ** share)

    return timed


MISLEADING = ("reversed", "crossing", "late", "noise", "early then not")
"""Ways in which early scores tell nothing, or the contrary, of final scores: see `misleading`."""


def misleading(kind: str, length: int = 50) -> Curve:
    """Return a score with mode "max" whose early values mislead, and which grows with t.

    Args:
        kind: "reversed" (the best are the worst until the last tenth), "crossing" (they change places about
            the middle), "late" (noise until the middle), "noise" (each report is a new draw) or
            "early then not" (steady until the middle, then independent of the first half).
        length: Number of iterations of a trial.

    Returns:
        A curve of configs with "final" and "other", both uniform in (0, 1).
    """
    if kind not in MISLEADING:
        raise ValueError(f"kind={kind!r}: choose one of {', '.join(map(repr, MISLEADING))}")
    normal = NormalDist()

    def score(config: Mapping[str, Any], t: int) -> dict[str, float] | None:
        if t > length:
            return None
        final, other = (normal.inv_cdf(min(max(config[one], 1e-9), 1 - 1e-9)) for one in ("final", "other"))
        u = t / length
        noise = 0.0
        if kind in ("late", "noise"):
            noise = keyed(0, "misleading", repr((config["final"], config["other"])), t).gauss(0, 1)
        value = {
            "reversed": -final * (1 - u) + (3 * final * u if u > 0.9 else 0.0),
            "crossing": other * (1 - u) + 0.7 * (final - other) * u,
            "late": final if u >= 0.5 else 0.3 * noise,
            "noise": noise,
            "early then not": final if u >= 0.5 else other,
        }[kind]
        return {"score": value + 3 * u}

    return score
