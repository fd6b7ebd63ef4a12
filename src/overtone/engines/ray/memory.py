"""Memory of a node: Ray's limit for ending workers, and priorities for the kernel's OOM killer.

Ray's memory monitor ends workers while more than a share of the node's memory is in use. It sees the
agent of a node, but not the trials below it. So the node's engine ends a trial before that share is used.
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
    """Return the share of the node's memory at which Ray ends workers; None if Ray never does.

    Call it in an agent: the settings of a node are in its workers' environment. The settings of the
    cluster come from Ray.
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
    """Make the kernel kill other Ray workers before this process if memory runs out; acts only once.

    Ray gives its workers the highest score. The server gives that score to the trials.
    """
    with suppress(OSError, ValueError):  # not every user may lower a score
        _OWN_SCORE.write_text(str(max(0, int(_OWN_SCORE.read_text()) - SCORE_GAP)))


def _of_node(environment: Mapping[str, str]) -> dict[str, Any]:
    names = ("memory_monitor_refresh_ms", "memory_usage_threshold", "min_memory_free_bytes")
    return {name: environment[f"RAY_{name}"] for name in names if f"RAY_{name}" in environment}


def _of_cluster() -> dict[str, Any]:
    """Return the cluster's `_system_config`; Ray has no public function for it."""
    try:
        from ray._private.state import state

        found: dict[str, Any] = state.get_system_config()
    except Exception:
        return {}
    return found
