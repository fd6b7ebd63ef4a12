"""The clusters that this machine knows, and what is known of each."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.config_reading import parse_config, read_config
from overtone.cluster.costs import cost_so_far
from overtone.cluster.state import State
from overtone.errors import OvertoneError


def config_of(place: str) -> ClusterConfig:
    """Return the config in a file, or the recorded one of a cluster that this machine knows.

    Raises:
        ConfigError: The config cannot be used.
        OvertoneError: There is neither a file nor a cluster of this name.
    """
    path = Path(place)
    if path.is_file() or "/" in place or path.suffix in (".yaml", ".yml"):
        return read_config(path)
    known = [state.name for state in State.known()]
    if place not in known:
        names = f"; known clusters: {', '.join(known)}" if known else ""
        raise OvertoneError(f"{place}: is neither a file nor a cluster that this machine knows{names}")
    return recorded_config(State(place))


def recorded_config(state: State) -> ClusterConfig:
    """Return the config with which a cluster was started, whatever became of its file and its folder since.

    Raises:
        OvertoneError: The cluster was never started from here.
    """
    info = state.info()
    if not info.get("config"):
        raise OvertoneError(f"cluster {state.name} was never started from this machine")
    return parse_config(info["config"], Path(info["source"]), checks_files=False)


def facts_of(state: State) -> dict[str, Any]:
    """Return what this machine knows of a cluster, without asking anybody, as `clusters --json` has it."""
    info = state.info()
    holder = state.holder()
    began, ended = info.get("began"), info.get("ended")
    until = time.time() if ended is None else ended
    return {
        "name": state.name,
        "provider": info.get("provider"),
        "phase": phase_of(info, holder is not None),
        "began": began,
        "ended": ended,
        "age_s": None if began is None else round(max(0.0, until - began), 1),
        "cost": cost_so_far(info),
        "config": info.get("source"),
        "holder": holder,
    }


def phase_of(info: dict[str, Any], is_held: bool) -> str:
    """Return the phase; one that a killed command has left says so."""
    phase = str(info.get("phase") or "unknown")
    if phase in ("starting", "taking down") and not is_held:
        return f"{phase} (interrupted)"
    return phase
