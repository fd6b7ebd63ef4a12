"""A trainable together with its parameters and resources."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from overtone.core.labels import selector_of
from overtone.errors import ResourceError
from overtone.worker import shared_objects

LARGE_BYTES = 1 << 16


@dataclass(frozen=True, eq=False)
class Bound:
    """The result of `with_parameters` and `with_resources`; usable wherever a trainable is.

    Attributes:
        trainable: A function, class or callable; never a Bound itself.
        parameters: Further arguments by name; large ones as an ObjectRef.
        resources: Resources per trial, as the user wrote them; None if not given.
        uses_ray: Whether trials use Ray themselves, so that on a cluster each is an actor.
        runtime_env: Ray's environment for trials on a cluster.
        label_selector: Conditions on the labels of the nodes where trials run.
        name: The name under which the trainable is registered; "" if it was given itself.
    """

    trainable: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    resources: Any = None
    uses_ray: bool = False
    runtime_env: Mapping[str, Any] = field(default_factory=dict)
    label_selector: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    @property
    def __name__(self) -> str:
        return self.name or trainable_name(self.trainable)

    def resolved(self) -> dict[str, Any]:
        """Return the parameters, with references replaced by their objects."""
        return resolve(self.parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.trainable(*args, **{**self.resolved(), **kwargs})


def with_parameters(trainable: Any, /, **parameters: Any) -> Bound:
    """Bind further arguments: `def f(config, data)`, or `setup(self, config, data)`.

    Large objects are shared with all trials on this machine rather than copied for each.
    """
    shared = {name: _shared(value) for name, value in parameters.items()}
    inner = as_bound(trainable)
    return replace(inner, parameters={**inner.parameters, **shared})


def with_resources(
    trainable: Any,
    resources: Any,
    *,
    ray: bool = False,
    runtime_env: Mapping[str, Any] | None = None,
    label_selector: Mapping[str, str] | None = None,
) -> Bound:
    """Bind the resources of each trial, such as {"cpu": 2, "gpu": 0.5}.

    Args:
        ray: Whether trials use Ray themselves: on a cluster each trial is an actor that holds the first
            bundle, and the tasks and actors that it starts use the others.
        runtime_env: Ray's environment for the trials, such as {"env_vars": {"HF_HOME": "/data"}} or
            {"pip": ["einops"]}; on a Ray cluster only. It adds to that of the driver. Local folders
            belong into `tune.ray_cluster(runtime_env=...)`, since Ray uploads them once a driver.
        label_selector: On a Ray cluster, trials run only on nodes whose labels meet it, such as
            {"disk": "nvme", "zone": "!in(a, b)"}; all bundles do.

    Raises:
        ResourceError: `label_selector` is not a dict of conditions, or `runtime_env` is not a dict.
    """
    if runtime_env is not None and not isinstance(runtime_env, Mapping):
        raise ResourceError(
            f'runtime_env={runtime_env!r}: must be a dict, such as {{"env_vars": {{"HF_HOME": "/data"}}}}'
        )
    selector = selector_of("label_selector", label_selector)
    return replace(
        as_bound(trainable), resources=resources, uses_ray=ray, runtime_env=dict(runtime_env or {}),
        label_selector=selector,
    )  # fmt: skip


def as_bound(trainable: Any) -> Bound:
    """Return `trainable` as a Bound; a plain trainable gets no parameters or resources."""
    return trainable if isinstance(trainable, Bound) else Bound(trainable)


def unwrap(trainable: Any) -> Any:
    """Return the function or object below `with_parameters`, `with_resources` and all partials."""
    trainable = as_bound(trainable).trainable
    while isinstance(trainable, functools.partial):
        trainable = trainable.func
    return trainable


def resolve(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return `parameters` with references replaced by their objects."""
    return {
        name: shared_objects.get(value) if isinstance(value, shared_objects.ObjectRef) else value
        for name, value in parameters.items()
    }


def trainable_name(trainable: Any) -> str:
    """Return a trainable's name: its own, the wrapped one's for a partial, else its class's."""
    while isinstance(trainable, functools.partial):
        trainable = trainable.func
    name = getattr(trainable, "__name__", None) or type(trainable).__name__
    return "lambda" if name == "<lambda>" else str(name)


def _shared(value: Any) -> Any:
    """Return a reference to `value` if it is large, else `value`, which travels with the trainable."""
    if value is None or isinstance(value, (bool, int, float, shared_objects.ObjectRef)):
        return value
    try:
        body, buffers = shared_objects.pickled(value)
    except Exception:
        return value  # an engine in this process accepts it; the others report the error
    if len(body) + sum(len(one) for one in buffers) < LARGE_BYTES:
        return value
    return shared_objects.put_pickled(body, buffers)
