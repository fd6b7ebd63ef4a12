"""The resources of a trainer's head and workers."""

from __future__ import annotations

from typing import Any

from overtone.core.resources import Resources
from overtone.errors import ArgumentError, ResourceError
from overtone.worker.session.current import current, is_inside
from overtone.worker.trainables.demand import ScalingConfig


def resources_of(num_workers: Any, num_cpus_per_worker: float, use_gpu: bool, is_local: bool) -> Resources:
    """Return 1 CPU for the head and a bundle for each worker; one bundle if the only worker is the head.

    Args:
        num_workers: A number, or (min, max) for as many as the nodes can hold.
    """
    worker = {"CPU": num_cpus_per_worker, "GPU": 1 if use_gpu else 0}
    if is_local:
        return Resources.of([worker])
    scaling = ScalingConfig({"CPU": 1}, num_workers, resources_per_worker=worker, placement_strategy="PACK")
    return scaling.resources()


def check_number(num_workers: object) -> None:
    """Check the number of workers.

    Raises:
        ArgumentError: It is not a whole number above 0.
    """
    if not isinstance(num_workers, int) or isinstance(num_workers, bool) or num_workers < 1:
        raise ArgumentError(f"num_workers={num_workers!r}: must be a whole number, 1 or more")


def is_gpu_used(use_gpu: bool | str, num_workers: int) -> bool:
    """Return whether each worker gets a GPU; "auto" means if there are enough.

    Raises:
        ArgumentError: `use_gpu` is neither a bool nor "auto".
    """
    if use_gpu == "auto":
        return count_gpus() >= num_workers
    if not isinstance(use_gpu, bool):
        raise ArgumentError(f'use_gpu={use_gpu!r}: must be True, False or "auto"')
    return use_gpu


def check_gpus(use_gpu: bool | str, num_workers: int) -> None:
    """Refuse workers with GPUs where there are too few, before any worker starts.

    Raises:
        ResourceError: There are too few GPUs.
    """
    if use_gpu is True and (count := count_gpus()) < num_workers:
        raise ResourceError(
            f"use_gpu=True, num_workers={num_workers}: each worker needs a GPU, and there are {count}: set "
            'use_gpu=False, or use_gpu="auto" to use GPUs where there are enough'
        )


def count_gpus() -> int:
    """Return the number of GPUs for workers: of the trial's bundles, or of the cluster or this machine."""
    if is_inside():
        return int(sum(one.get("GPU", 0) for one in current().get_trial_resources().bundles))
    return int(_cluster().get("GPU", 0))


def _cluster() -> dict[str, float]:
    from overtone.engines.default import initialised_ray

    if (ray := initialised_ray()) is not None:
        return dict(ray.cluster_resources())
    from overtone.machine import cluster_resources

    return cluster_resources()
