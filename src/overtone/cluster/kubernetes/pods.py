"""The pods of a cluster: whether they are ready, and why they never will be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from overtone.cluster.kubernetes.manifests import HEAD_CONTAINER, WORKER_CONTAINER
from overtone.cluster.remote import last_lines

Object = Mapping[str, Any]

_HOPELESS = frozenset(
    {"ImagePullBackOff", "InvalidImageName", "CrashLoopBackOff", "RunContainerError", "ErrImageNeverPull"}
)
"""Kubernetes' reasons why a container does not start, of those that do not pass without a change."""


def is_head(pod: Object) -> bool:
    """Return whether a pod is the head."""
    return bool((pod["metadata"].get("labels") or {}).get("ray.io/node-type") == "head")


def main_container(pod: Object) -> str:
    """Return the name of the pod's container that runs Ray."""
    return HEAD_CONTAINER if is_head(pod) else WORKER_CONTAINER


def is_leaving(live: Object) -> bool:
    """Return whether an object is being deleted."""
    return live["metadata"].get("deletionTimestamp") is not None


def is_ready(pod: Object) -> bool:
    """Return whether the pod's container that runs Ray is ready."""
    if is_leaving(pod):
        return False
    name = main_container(pod)
    return any(one.get("ready") for one in _containers(pod) if one["name"] == name)


def head_of(pods: Sequence[Object]) -> Object | None:
    """Return the head's pod: of several, the newest that is not being deleted."""
    heads = [pod for pod in pods if is_head(pod) and not is_leaving(pod)]
    return max(heads, key=lambda pod: str(pod["metadata"].get("creationTimestamp")), default=None)


def trouble(pod: Object) -> str:
    """Return why a pod does not become ready without a change, with its last lines; "" if it may."""
    if is_leaving(pod):
        return ""
    for one in _containers(pod):
        if one.get("ready"):
            continue  # it was started again
        state, last = one.get("state") or {}, one.get("lastState") or {}
        ended = state.get("terminated") or last.get("terminated")
        if ended and ended.get("exitCode"):
            lines = last_lines(str(ended.get("message") or "").encode())
            why = f"{ended.get('reason') or 'Error'}, status {ended['exitCode']}"
            return f"{_name(one, pod)} ended ({why}){':' + lines if lines else ''}"
        waiting = state.get("waiting") or {}
        if waiting.get("reason") in _HOPELESS:
            said = f": {waiting['message']}" if waiting.get("message") else ""
            return f"{_name(one, pod)}: {waiting['reason']}{said}"
    return ""


def waiting_for(pod: Object) -> str:
    """Return what a pod waits for, such as "Unschedulable: 0/3 nodes are available"; "" if it is unknown."""
    for one in _containers(pod):
        if reason := ((one.get("state") or {}).get("waiting") or {}).get("reason"):
            return str(reason)
    for condition in (pod.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return f"{condition.get('reason')}: {condition.get('message')}"
    return str((pod.get("status") or {}).get("phase") or "")


def began(live: Object) -> float | None:
    """Return when an object was made, in seconds since 1970."""
    stamp = live["metadata"].get("creationTimestamp")
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp() if stamp else None


def state_of(live: Object) -> str:
    """Return Kubernetes' or KubeRay's word for the state of an object."""
    if is_leaving(live):
        return "terminating"
    status = live.get("status") or {}
    words = (status.get("jobDeploymentStatus"), status.get("state"), status.get("phase"))
    return next((str(word) for word in words if word), "present").lower()


def _name(container: Object, pod: Object) -> str:
    return f"container {container['name']} of pod {pod['metadata']['name']}"


def _containers(pod: Object) -> Iterator[Mapping[str, Any]]:
    status = pod.get("status") or {}
    yield from status.get("initContainerStatuses") or []
    yield from status.get("containerStatuses") or []
