"""Waits until a cluster's pods are ready, and says why they will not be."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.kubernetes.objects import Object, Objects
from overtone.cluster.kubernetes.pods import (
    head_of,
    is_head,
    is_leaving,
    is_ready,
    main_container,
    trouble,
    waiting_for,
)
from overtone.cluster.kubernetes.transport import KubernetesError
from overtone.cluster.remote import last_lines
from overtone.cluster.resource import TAG

START_S = 1800.0
"""The longest start: Kubernetes may have to add machines, and these to pull images."""

_POLL_S = 1.0
_JOB_ENDS = frozenset({"Complete", "Failed"})


def wait_until_ready(
    objects: Objects,
    config: ClusterConfig,
    progress: Any,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the head and `workers.min` workers are ready.

    Raises:
        KubernetesError: A pod cannot start, KubeRay refuses the cluster, or it takes more than `START_S`.
    """
    deadline = clock() + START_S
    with progress.phase("start head"):
        _wait(objects, config, progress, _has_head, deadline, clock, sleep)
    if config.workers.min:
        with progress.phase("start workers", f"{config.workers.min}"):
            _wait(
                objects,
                config,
                progress,
                lambda pods: _n_workers(pods) >= config.workers.min,
                deadline,
                clock,
                sleep,
            )


def _has_head(pods: list[Object]) -> bool:
    head = head_of(pods)
    return head is not None and is_ready(head)


def _n_workers(pods: list[Object]) -> int:
    return sum(is_ready(pod) and not is_head(pod) for pod in pods)


def _wait(
    objects: Objects,
    config: ClusterConfig,
    progress: Any,
    is_done: Callable[[list[Object]], bool],
    deadline: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    noted = ""
    while True:
        pods = objects.select("Pod", f"{TAG}={config.name}")
        if is_done(pods):
            return
        _raise_trouble(objects, config, pods)
        waits = sorted({waiting_for(pod) for pod in pods if not is_ready(pod)} - {""})
        text = "; ".join(waits) if pods else "waiting for KubeRay to make pods"
        if text != noted:
            noted = text
            progress.note(text)
        if clock() > deadline:
            raise KubernetesError(
                f"the cluster was not ready after {START_S / 60:.0f} min: {_why(objects, config, pods)}"
            )
        sleep(_POLL_S)


def _raise_trouble(objects: Objects, config: ClusterConfig, pods: list[Object]) -> None:
    for pod in pods:
        if why := trouble(pod):
            raise KubernetesError(f"{why}{_log(objects, pod)}{_events(objects, pod['metadata']['name'])}")
    job = objects.get("RayJob", config.name)
    if job is not None and (job.get("status") or {}).get("jobDeploymentStatus") in _JOB_ENDS:
        status = job["status"]
        said = status.get("message") or status.get("reason") or "without a reason"
        raise KubernetesError(
            f"the RayJob ended before the cluster was ready: {said}{_events(objects, config.name)}"
        )
    cluster = objects.get("RayCluster", config.name) if job is None else None
    if cluster is None and job is None:
        raise KubernetesError(f"the cluster {config.name} was deleted while it started")
    if cluster is not None and is_leaving(cluster):
        raise KubernetesError(
            f"the cluster {config.name} is being deleted: run the command again when it is gone"
        )
    if cluster is not None and (status := cluster.get("status") or {}).get("state") == "failed":
        raise KubernetesError(
            f"KubeRay cannot make the cluster: {status.get('reason')}{_events(objects, config.name)}"
        )


def _log(objects: Objects, pod: Object) -> str:
    """Return the last 20 lines of a container that ended, where its status does not have them."""
    name, container = pod["metadata"]["name"], main_container(pod)
    lines = objects.log(name, container, 20) or objects.log(name, container, 20, is_previous=True)
    return f"\nIts log ends with:{last_lines(lines)}" if lines else ""


def _events(objects: Objects, name: str) -> str:
    events = objects.events(name)
    return "\nLast events:" + "".join(f"\n  {event}" for event in events) if events else ""


def _why(objects: Objects, config: ClusterConfig, pods: list[Object]) -> str:
    late = [pod for pod in pods if not is_ready(pod)]
    if not late:
        return f"KubeRay made {len(pods)} pods{_events(objects, config.name)}. Does its operator run?"
    name = late[0]["metadata"]["name"]
    return f"pod {name} waits ({waiting_for(late[0])}){_events(objects, name)}"
