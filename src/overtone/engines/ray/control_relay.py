"""Requests to a driver on another machine of a Ray cluster: an actor there hands them in."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

from overtone.control.answers import Answer, ControlError, answer_in, refusal
from overtone.control.client import TIMEOUT_S, send
from overtone.control.requests import document_of, requested
from overtone.core.messages import Requested
from overtone.engines.ray import cluster_connection

_START_S = 60.0
_NAMESPACE = "overtone"


class ControlRelay:
    """Hands in requests on the machine of a driver."""

    def send(self, folder: str, document: dict[str, Any]) -> dict[str, Any]:
        """Hand in a request to the experiment in `folder`, and return its answer or refusal."""
        try:
            return send(Path(folder), requested(document)).as_data()
        except ControlError as error:
            return refusal(str(error), error.kind)


def send_over_ray(folder: Path, event: Requested, hostname: str) -> Answer:
    """Make a request to a driver on another machine of this process's cluster, or of RAY_ADDRESS's.

    The folder must have the same path there. The actor needs no resources, and ends with this process.

    Raises:
        ControlError: The request was refused, or no machine of the cluster has this name.
        OvertoneError: The cluster cannot be reached.
    """
    cluster_connection.connect()
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = {one["NodeManagerHostname"]: one["NodeID"] for one in ray.nodes() if one["Alive"]}
    if hostname not in nodes:
        raise ControlError(f"{folder} is run on {hostname}; the Ray cluster has {', '.join(sorted(nodes))}")
    name = blake2b(f"{hostname}:{folder}".encode(), digest_size=8).hexdigest()
    relay = ray.remote(num_cpus=0)(ControlRelay).options(
        name=f"control-{name}", namespace=_NAMESPACE, get_if_exists=True, max_concurrency=16,
        scheduling_strategy=NodeAffinitySchedulingStrategy(nodes[hostname], soft=False),
    ).remote()  # fmt: skip
    try:
        answer = relay.send.remote(str(folder), document_of(event))
        return answer_in(ray.get(answer, timeout=_START_S + TIMEOUT_S))
    except ray.exceptions.GetTimeoutError as error:
        raise ControlError(f"{folder}: no answer from {hostname} through Ray: {error}") from None
    except ray.exceptions.RayError as error:
        raise ControlError(f"{folder}: Ray cannot hand the request to {hostname}: {error!s:.300}") from None
