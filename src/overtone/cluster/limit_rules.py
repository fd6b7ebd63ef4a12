"""When a cluster ends by itself: a pure function of what its head knows."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from overtone.cluster.config import Limits
from overtone.cluster.durations import duration_text

SAVE_S = 60.0
"""Seconds before the limits of hours and price at which the end begins: experiments save meanwhile."""

SAVE_SHARE = 0.1
"""The same as a share of a limit, for clusters of a few minutes."""

WARN_S = 300.0
"""Seconds before the end at which the watchdog warns."""

STAY, WARN, END = "stay", "warn", "end"


@dataclass(frozen=True)
class Facts:
    """Facts about a cluster; times are seconds since the cluster began.

    Attributes:
        busy: What keeps the cluster, such as "run 7f3a"; empty if the cluster is idle.
        busy_at: When the cluster was last seen busy, at most now; 0 if never.
        cost: Cost so far, in US dollars.
        cost_an_hour: Cost of an hour with the present nodes, in US dollars.
    """

    busy: tuple[str, ...] = ()
    busy_at: float = 0.0
    cost: float = 0.0
    cost_an_hour: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """The action to take now.

    Attributes:
        action: STAY, WARN or END.
        reason: The limit that comes first, such as "idle for 15m"; "" if none applies.
        in_s: Seconds until the cluster ends if nothing changes; 0 for END.
    """

    action: str
    reason: str = ""
    in_s: float = inf


def decide(now: float, facts: Facts, limits: Limits) -> Verdict:
    """Return whether a cluster stays, and which limit ends it.

    Args:
        now: Seconds since the cluster began.
        facts: What the head knows.
        limits: The limits of the cluster's config.
    """
    in_s, reason = min(_ends(now, facts, limits), default=(inf, ""))
    if in_s <= 0:
        return Verdict(END, reason, 0.0)
    return Verdict(WARN if in_s <= WARN_S else STAY, reason, in_s)


def _ends(now: float, facts: Facts, limits: Limits) -> list[tuple[float, str]]:
    """Return (seconds until the end begins, reason) for each limit that applies."""
    found = []
    if not facts.busy:
        idle_s = max(0.0, now - facts.busy_at)
        found.append((limits.cluster_idle_s - idle_s, f"idle for {duration_text(limits.cluster_idle_s)}"))
    if limits.hours is not None:
        limit_s = 3600 * limits.hours
        found.append((limit_s - _to_save(limit_s) - now, f"its limit of {limits.hours:g} hours"))
    if limits.price is not None:
        reason = f"its limit of ${limits.price:g}"
        left = limits.price - facts.cost
        if left <= 0:
            found.append((0.0, reason))
        elif facts.cost_an_hour > 0:
            limit_s = 3600 * limits.price / facts.cost_an_hour
            found.append((3600 * left / facts.cost_an_hour - _to_save(limit_s), reason))
    return found


def _to_save(limit_s: float) -> float:
    return min(SAVE_S, SAVE_SHARE * limit_s)
