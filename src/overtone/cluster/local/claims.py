"""Whose a host is: by the claim of a cluster on it, and the lives of a cluster that this machine knows."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.state import State


def lives(state: State) -> list[str]:
    """Return the ids of this life of the cluster and of the one before, as this machine knows them."""
    info = state.info()
    return [str(info[name]) for name in ("id", "life_before") if info.get(name)]


def end_options(state: State) -> str:
    """Return the options of `host_facts` that end the cluster on a host, unless it is another machine's."""
    known = lives(state)
    return f"--end --lives {' '.join(map(quote, known))}" if known else "--end"


def is_anothers(facts: HostFacts, lives: Sequence[str]) -> bool:
    """Return whether another machine has just begun to start a cluster of this name on a host.

    Args:
        facts: The facts of the host.
        lives: What `lives` returns.
    """
    return facts.is_new and bool(lives) and (facts.claim or {}).get("id") not in lives
