"""Ray's environment (`runtime_env`) of the trials of one run.

An agent runs in the environment, and so does every trial that is forked there. A trial that uses
Ray is an actor with the environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from overtone.errors import OvertoneError


def check_environment(environment: Mapping[str, Any]) -> None:
    """Refuse an environment that Ray does not know or cannot give to actors.

    Raises:
        OvertoneError: The environment is invalid; the message lists valid settings.
    """
    if not environment:
        return
    import ray
    from ray.runtime_env import RuntimeEnv

    known = set(getattr(RuntimeEnv, "known_fields", ()))
    unknown = set(environment) - known
    if known and unknown and not os.environ.get("RAY_RUNTIME_ENV_PLUGINS"):
        raise OvertoneError(
            f"runtime_env={dict(environment)!r}: Ray does not know {', '.join(map(repr, sorted(unknown)))}; "
            f"it knows {', '.join(sorted(known))}"
        )
    try:
        ray.remote(_Probe).options(runtime_env=dict(environment))
    except Exception as error:
        raise OvertoneError(
            f"runtime_env={dict(environment)!r}: {error} Give local folders to the whole run, "
            "tune.ray_cluster(runtime_env=...) or ray.init(runtime_env=...); env_vars, pip, uv, conda and "
            "URIs can be given here"
        ) from error


def options_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment as options of an actor."""
    return {"runtime_env": dict(environment)} if environment else {}


def brings_folder(environment: Mapping[str, Any]) -> bool:
    """Return whether trials run in a folder of the environment, not in the driver's."""
    return "working_dir" in environment


def brings_modules(environment: Mapping[str, Any]) -> bool:
    """Return whether modules of the environment come before those that the driver finds."""
    return not environment.keys().isdisjoint(("working_dir", "py_modules"))


class _Probe:
    """Placeholder class for checking actor options; it is never started."""
