"""The choice of the engine for an experiment without an `engine` argument."""

from __future__ import annotations

import os
from typing import Any

from overtone.as_ray.state import loaded_ray


def is_local(asked: Any) -> bool:
    """Return whether a run with this `engine` argument takes the local engine, by name or by default."""
    return asked == "local" or (asked is None and not why_ray())


def initialised_ray() -> Any:
    """Return the module of an installed Ray that is initialised in this process; None if none is."""
    ray = loaded_ray()
    is_it = getattr(ray, "__name__", "") == "ray" and getattr(ray, "is_initialized", lambda: False)()
    return ray if is_it else None


def why_ray() -> str:
    """Return why an experiment without an `engine` argument runs on Ray; "" if it does not."""
    if initialised_ray() is not None:
        return "Ray is initialised in this process"
    address = os.environ.get("RAY_ADDRESS")
    return f"RAY_ADDRESS={address}" if address else ""
