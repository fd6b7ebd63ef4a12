"""Which engine runs an experiment, and why."""

from __future__ import annotations

import os
import sys
from typing import Any

from overtone.core.protocols import Engine
from overtone.errors import OvertoneError

ENGINES = ("local", "ray", "inline", "simulated")


def engine_for(asked: Engine | str | None) -> tuple[Engine, str]:
    """The engine, and why it is this one."""
    if isinstance(asked, Engine):
        return asked, "as given"
    if asked not in (None, *ENGINES):
        raise OvertoneError(
            f"engine={asked!r}: choose one of {', '.join(map(repr, ENGINES))}, or give an Engine"
        )
    why = f"engine={asked!r}" if asked else _why_ray()
    if asked == "ray" or (asked is None and why):
        from overtone.run.on_ray import ray_cluster

        return ray_cluster(), why
    why = why or "nothing else was asked for"
    if asked == "inline":
        from overtone.engines.inline import Inline

        return Inline(), why
    if asked == "simulated":
        from overtone.engines.simulated import Simulated

        return Simulated(), why
    from overtone.engines.local import Local
    from overtone.machine import declared

    amounts = declared()
    cpus, gpus = amounts.pop("cpu", None), amounts.pop("gpu", None)
    memory = amounts.pop("memory", None)
    return Local(cpus, None if gpus is None else int(gpus), memory, amounts or None), why


def _why_ray() -> str:
    """Why an experiment that names no engine runs on Ray; "" where it does not."""
    ray: Any = sys.modules.get("ray")
    if getattr(ray, "__name__", "") == "ray" and getattr(ray, "is_initialized", lambda: False)():
        return "Ray is initialised in this process"
    address = os.environ.get("RAY_ADDRESS")
    return f"RAY_ADDRESS={address}" if address else ""
