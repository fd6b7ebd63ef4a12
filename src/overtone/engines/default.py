"""Which engine runs an experiment that names none."""

from __future__ import annotations

import os
import sys
from typing import Any


def is_local(asked: Any) -> bool:
    """Whether a run with this `engine` argument takes the local engine, by its name or by default."""
    return asked == "local" or (asked is None and not why_ray())


def why_ray() -> str:
    """Why an experiment that names no engine runs on Ray; "" where it does not."""
    ray: Any = sys.modules.get("ray")
    if getattr(ray, "__name__", "") == "ray" and getattr(ray, "is_initialized", lambda: False)():
        return "Ray is initialised in this process"
    address = os.environ.get("RAY_ADDRESS")
    return f"RAY_ADDRESS={address}" if address else ""
