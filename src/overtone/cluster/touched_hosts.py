"""The hosts on which a cluster has done something: `down` ends it there, and verifies that it has ended."""

from __future__ import annotations

from collections.abc import Sequence

from overtone.cluster.config import ClusterConfig
from overtone.cluster.state import State
from overtone.errors import OvertoneError


def touched(config: ClusterConfig) -> list[str]:
    """Return the hosts that may have something of the cluster: all, if this machine does not know.

    A host that the config has lost since is among them.
    """
    known = State(config.name).info().get("touched")
    return config.hosts if known is None else list(known)


def leave_out(gone: Sequence[str], config: ClusterConfig, state: State) -> None:
    """Take hosts that are gone for good off the cluster's record. Call it while its lock is held.

    Raises:
        OvertoneError: One is not a host of the cluster.
    """
    if not gone:
        return
    if not config.hosts:
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
