"""The hosts on which a cluster has done something: `down` ends it there, and verifies that it has ended."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from overtone.cluster.config import ClusterConfig
from overtone.cluster.local.autoscaler_form import addresses
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.state import State
from overtone.errors import OvertoneError


def touched(config: ClusterConfig) -> list[str]:
    """Return the hosts that may have something of the cluster: all, if this machine does not know.

    A host that the config has lost since is among them.
    """
    known = State(config.name).info().get("touched")
    return addresses(config) if known is None else list(known)


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


def leave_out(gone: Sequence[str], config: ClusterConfig, state: State) -> None:
    """Take hosts that are gone for good off the cluster's record. Call it while its lock is held.

    Raises:
        OvertoneError: One is not a host of the cluster.
    """
    if not gone:
        return
    if config.provider.type != "local":
        raise OvertoneError(
            f"--gone is for hosts of `type: local`: {config.provider.type} itself says which machines exist"
        )
    there = touched(config)
    if unknown := [one for one in gone if one not in there]:
        raise OvertoneError(
            f"--gone {unknown[0]}: not a host of {config.name} that may have something of it; those are: "
            f"{', '.join(there) or 'none'}"
        )
    state.update(touched=[one for one in there if one not in gone])
