"""Choice of the engine that runs an experiment."""

from __future__ import annotations

from overtone.core.protocols import Engine
from overtone.engines.default import why_ray
from overtone.errors import OvertoneError
from overtone.worker.trainables.with_parameters import Bound

ENGINES = ("local", "ray", "inline", "simulated")


def engine_for(asked: Engine | str | None) -> tuple[Engine, str]:
    """Return the engine and the reason of the choice."""
    if isinstance(asked, Engine):
        return asked, "as given"
    if asked not in (None, *ENGINES):
        raise OvertoneError(
            f"engine={asked!r}: choose one of {', '.join(map(repr, ENGINES))}, or give an Engine"
        )
    why = f"engine={asked!r}" if asked else why_ray()
    if asked == "ray" or (asked is None and why):
        from overtone.run.ray_engine import ray_cluster

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


def check_options(bound: Bound, engine: Engine) -> None:
    """Refuse trial options that only a cluster supports; a simulation ignores them.

    Raises:
        OvertoneError: There are such options, and the engine runs trials on this machine.
    """
    if engine.capabilities.spans_hosts or engine.capabilities.repeats:
        return
    for name, value, instead in (
        ("runtime_env", bound.runtime_env, 'set os.environ before the run, or use engine="ray"'),
        ("label_selector", bound.label_selector, 'leave it out, or use engine="ray"'),
    ):
        if value:
            raise OvertoneError(f"{name}={value!r}: only a Ray cluster has that; on one machine {instead}")
