"""The accelerators of a lease, as the environment variables in which Ray shows them.

Ray sets these variables in each task and actor that holds accelerators. A task in the lease
reads them once. They are passed on as they are to the trials, which Ray does not know.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from overtone.core.resources import Bundle, Resources
from overtone.engines.ray.placement_groups import bundle_index, ray_amounts
from overtone.worker import gpus

Devices = tuple[tuple[str, str], ...]
"""(name, value) of environment variables."""

NO_DEVICES: Devices = ((gpus.VARIABLE, ""),)
"""The variables of a trial without GPUs."""

_KNOWN = {
    "GPU": (
        gpus.VARIABLE, "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
        "ONEAPI_DEVICE_SELECTOR",
    ),
    "TPU": ("TPU_VISIBLE_CHIPS", "TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS"),
    "neuron_cores": ("NEURON_RT_VISIBLE_CORES",),
    "HPU": ("HABANA_VISIBLE_MODULES",),
    "NPU": ("ASCEND_RT_VISIBLE_DEVICES",),
}  # fmt: skip
"""Variables by Ray's name of the resource: those of Ray 2.60, and others that belong to them."""

_NOT_LISTS = {"TPU_CHIPS_PER_HOST_BOUNDS", "TPU_HOST_BOUNDS"}
"""Variables whose values describe one bundle, and cannot be joined with another's."""


@cache
def variables() -> Mapping[str, tuple[str, ...]]:
    """Return the variables of each accelerator resource, by Ray's name of the resource."""
    found = dict(_KNOWN)
    try:
        from ray._private.accelerators import get_all_accelerator_managers

        for manager in get_all_accelerator_managers():
            name, variable = manager.get_resource_name(), manager.get_visible_accelerator_ids_env_var()
            if variable and variable not in found.get(name, ()):
                found[name] = (*found.get(name, ()), variable)
    except Exception:
        pass  # Another version of Ray, without these private classes: the known variables remain.
    return found


def has_accelerators(bundle: Bundle) -> bool:
    """Return whether a bundle holds accelerators that Ray tells apart."""
    return not variables().keys().isdisjoint(ray_amounts(bundle))


def probes_of(shape: Resources, group: Any) -> list[Any]:
    """Return a reference to the `Devices` of each bundle of a placement group that has accelerators."""
    import ray
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    found = []
    for at, bundle in enumerate(shape.bundles):
        if has_accelerators(bundle):
            held = {name: n for name, n in ray_amounts(bundle).items() if name in variables()}
            names = tuple([one for name in held for one in variables()[name]])
            there = PlacementGroupSchedulingStrategy(group, bundle_index(shape, at))
            task = ray.remote(_visible).options(
                num_cpus=0, num_gpus=held.pop("GPU", 0), resources=held, scheduling_strategy=there
            )
            found.append(task.remote(names))
    return found


def by_bundle(shape: Resources, probed: Sequence[Devices]) -> tuple[Devices, ...]:
    """Return the devices of each bundle of a shape, given the results of its probes."""
    found = iter(probed)
    return tuple([next(found, ()) if has_accelerators(bundle) else () for bundle in shape.bundles])


def of_bundle(bundle: Bundle, devices: Devices) -> Devices:
    """Return the devices that a process in a bundle sees, given the bundle's devices."""
    return devices if dict(bundle).get("gpu") else NO_DEVICES + devices


def on_first_node(shape: Resources, nodes: Sequence[str], devices: Sequence[Devices]) -> Devices:
    """Return the devices that a trial sees on the first node of its lease.

    Args:
        shape: Shape of the lease.
        nodes: The node of each bundle; "" for an empty bundle.
        devices: The devices of each bundle.
    """
    first = next((node for node in nodes if node), "")
    mine = [at for at, node in enumerate(nodes) if node == first and node]
    joined = _joined(devices[at] for at in mine)
    has_gpu = any(dict(shape.bundles[at]).get("gpu") for at in mine)
    return joined if has_gpu else NO_DEVICES + joined


def _joined(parts: Iterable[Devices]) -> Devices:
    """Join the devices of bundles; a device in two bundles is named once."""
    given = [devices for devices in parts if devices]
    if len(given) == 1:
        return given[0]
    found: dict[str, dict[str, None]] = {}
    for name, value in (pair for devices in given for pair in devices):
        if name not in _NOT_LISTS:
            found.setdefault(name, {}).update(dict.fromkeys(value.split(",")))
    return tuple((name, ",".join(values)) for name, values in found.items())


def _visible(names: Sequence[str]) -> Devices:
    return tuple((name, os.environ[name]) for name in names if name in os.environ)
