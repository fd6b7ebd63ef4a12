"""A node's memory: what Ray does when it runs short, and who of this run goes before the agent.

Ray's memory monitor ends workers while more than a share of the node's memory is in use. It knows of the
agent of a node, not of the trials below it. So the node's engine ends a trial at a margin below that share.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from overtone.worker.limits.memory_guard import SCORE_GAP
from overtone.worker.limits.node_memory import memory_reader

_OWN_SCORE = Path("/proc/self/oom_score_adj")


def share(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return at what share of the node's memory Ray begins to end workers; None if it never does.

    Called in an agent: a node's settings are in the environment of its workers, a cluster's are Ray's.
    """
    settings = {**_of_cluster(), **_of_node(environment)}
    try:
        if float(settings.get("memory_monitor_refresh_ms", 250)) <= 0:
            return None
        found = float(settings.get("memory_usage_threshold", 0.95))
        free = float(settings.get("min_memory_free_bytes", -1))
    except (TypeError, ValueError):
        return 0.95
    memory = memory_reader()()
    if free >= 0 and memory is not None:
        found = max(found, 1 - free / memory.total)
    return min(1.0, max(0.0, found))


def is_shortage(error: str) -> bool:
    """Return whether Ray ended a worker because its node ran short of memory."""
    return error.startswith("OutOfMemoryError")


@cache
def spare_this_process() -> None:
    """Have the kernel, out of memory, kill others of Ray's workers before this one, once.

    Ray gives its workers the highest score. Their trials get that from the server.
    """
    with suppress(OSError, ValueError):  # not every user may ask for that
        _OWN_SCORE.write_text(str(max(0, int(_OWN_SCORE.read_text()) - SCORE_GAP)))


def _of_node(environment: Mapping[str, str]) -> dict[str, Any]:
    names = ("memory_monitor_refresh_ms", "memory_usage_threshold", "min_memory_free_bytes")
    return {name: environment[f"RAY_{name}"] for name in names if f"RAY_{name}" in environment}


def _of_cluster() -> dict[str, Any]:
    """Return the `_system_config` that the cluster was started with; Ray has no public name for it."""
    try:
        from ray._private.state import state

        found: dict[str, Any] = state.get_system_config()
    except Exception:
        return {}
    return found
