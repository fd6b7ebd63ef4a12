"""Compute Engine's API: what exists of a cluster, and its deletion."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.resource import TAG, Resource
from overtone.errors import MissingPackageError

ENDPOINT = "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE"
"""The environment variable by which gcloud, too, is told of another address of the API."""

_RETRIES = 6  # of requests that are throttled or meet a failing server; with growing pauses
_LONGEST_PAUSE_S = 10.0
_OPERATIONS_S = 120.0


@contextmanager
def opened(left: Sequence[Resource] = ()) -> Iterator[Any]:
    """Give a client of Compute Engine, with the credentials of gcloud, the environment or the machine.

    Errors of Google's library inside the block become a `CloudError` that says what to do.

    Args:
        left: What may be left then, which the error lists. It may grow inside the block.

    Raises:
        MissingPackageError: Google's client library is not installed.
        CloudError: There are no credentials.
    """
    try:
        from googleapiclient import discovery
    except ImportError as error:
        raise MissingPackageError("google-api-python-client", "gcp", 'the provider "gcp"') from error
    endpoint = os.environ.get(ENDPOINT)
    options = {"api_endpoint": endpoint} if endpoint else None
    with _explained(left):
        client = discovery.build("compute", "v1", client_options=options, cache_discovery=False)
        try:
            yield client
        finally:
            client.close()


@contextmanager
def _explained(left: Sequence[Resource]) -> Iterator[None]:
    from google.auth import exceptions
    from googleapiclient.errors import HttpError

    try:
        yield
    except exceptions.GoogleAuthError as error:
        raise CloudError(
            f"Google Cloud's credentials are missing or have expired ({error}): run `gcloud auth "
            "application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; then repeat the command",
            left,
        ) from error
    except HttpError as error:
        raise CloudError(_advice(error), left) from error
    except OSError as error:
        raise CloudError(f"Google Cloud does not answer ({error}): check the network", left) from error


def _advice(error: Any) -> str:
    reason, status = error.reason or "", int(error.resp.status)
    if status == 401:
        return (
            "Google Cloud refused the credentials: run `gcloud auth application-default login`, and repeat "
            f"the command. Google says: {reason}"
        )
    if status == 403:
        return (
            "Google Cloud does not allow this: docs/launcher.md lists the roles that the launcher needs, and "
            f"the project needs the Compute Engine API. Google says: {reason}"
        )
    return f"Google Cloud refused a request ({status}): {reason}"


def resources(compute: Any, project: str, name: str) -> list[Resource]:
    """Return what exists of the cluster in all zones of the project, by its label.

    Stopped machines are among them: their disks cost.
    """
    found = [_instance(one) for one in _labelled(compute.instances(), "instances", project, name)]
    for one in _labelled(compute.disks(), "disks", project, name):
        found.append(Resource("disk", f"{_zone(one)}/{one['name']}", one["status"], _since(one)))
    return found


def clusters(project: str) -> list[str]:
    """Return the names of all of Overtone's clusters with machines or disks in a project, sorted.

    Raises:
        CloudError: Google Cloud refuses the requests or does not answer; the message says what to do.
    """
    with opened() as api:
        parts = ((api.instances(), "instances"), (api.disks(), "disks"))
        found = [one for part in parts for one in _all(*part, project, f"labels.{TAG}:*")]
        return sorted({one["labels"][TAG] for one in found})


def _labelled(collection: Any, key: str, project: str, name: str) -> Iterator[dict[str, Any]]:
    for one in _all(collection, key, project, f'labels.{TAG} = "{name}"'):
        if one.get("labels", {}).get(TAG) == name:
            yield one


def _all(collection: Any, key: str, project: str, wanted: str) -> Iterator[dict[str, Any]]:
    """Return what a filter selects in all zones of a project, over all pages."""
    request = collection.aggregatedList(project=project, filter=wanted)
    while request is not None:
        page = request.execute(num_retries=_RETRIES)
        for zone in page.get("items", {}).values():
            yield from zone.get(key, [])
        request = collection.aggregatedList_next(request, page)


def _instance(one: dict[str, Any]) -> Resource:
    is_spot = one.get("scheduling", {}).get("provisioningModel") == "SPOT"
    kind = one["machineType"].rpartition("/")[2]
    return Resource("instance", f"{_zone(one)}/{one['name']}", one["status"], _since(one), kind, is_spot)


def _zone(one: dict[str, Any]) -> str:
    return str(one.get("zone") or one.get("region", "")).rpartition("/")[2]


def _since(one: dict[str, Any]) -> float | None:
    from datetime import datetime

    created = one.get("creationTimestamp")
    return datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp() if created else None


def head_of(compute: Any, project: str, name: str) -> dict[str, Any] | None:
    """Return the cluster's running head as the API describes it; None if there is none."""
    for one in _labelled(compute.instances(), "instances", project, name):
        if one["labels"].get("ray-node-type") == "head" and one["status"] == "RUNNING":
            return one
    return None


def is_head(resource: Resource) -> bool:
    """Return whether a machine is a head, by the name that Ray gives it."""
    return resource.id.rpartition("-")[0].rpartition("-")[0].endswith("-head")


def delete_all(compute: Any, project: str, name: str, left: list[Resource], timeout_s: float = 900.0) -> None:
    """Delete the cluster's machines, then disks that are left, until nothing has its label.

    The head goes first: it is what starts workers.

    Args:
        compute: The client.
        project: The project.
        name: The cluster's name.
        left: Is kept up to date with what is left.
        timeout_s: How long to try.

    Raises:
        CloudError: Something is left; it lists it and says why.
    """
    deadline, pause_s = time.monotonic() + timeout_s, 1.0
    while True:
        left[:] = resources(compute, project, name)
        if not left:
            return
        refusals = _try_to_delete(compute, project, sorted(left, key=is_head, reverse=True))
        left[:] = resources(compute, project, name)
        if not left:
            return
        if time.monotonic() >= deadline or len(refusals) == len(left):
            raise _refused(name, refusals, left)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def delete(compute: Any, project: str, machines: list[Resource], name: str) -> None:
    """Delete machines in this order, each also if another one was refused.

    Raises:
        CloudError: Some were refused; it lists them.
    """
    refusals = _try_to_delete(compute, project, machines)
    if refusals:
        raise _refused(name, refusals, [one for one in machines if one.id in refusals])


def _refused(name: str, refusals: dict[str, str], left: list[Resource]) -> CloudError:
    why = "".join(f"; {id}: {text}" for id, text in refusals.items())
    return CloudError(f"something of cluster {name} could not be deleted{why}", left)


def _try_to_delete(compute: Any, project: str, found: list[Resource]) -> dict[str, str]:
    """Request the deletion of machines, or of disks if no machine is left; return why some were refused."""
    from googleapiclient.errors import HttpError

    machines = [one for one in found if one.kind == "instance"]
    refusals: dict[str, str] = {}
    operations = []
    for one in machines or found:
        zone, _, own_name = one.id.partition("/")
        try:
            if one.kind == "instance":
                request = compute.instances().delete(project=project, zone=zone, instance=own_name)
            else:
                request = compute.disks().delete(project=project, zone=zone, disk=own_name)
            operations.append((one.id, zone, request.execute(num_retries=_RETRIES)["name"]))
        except HttpError as error:
            if int(error.resp.status) not in (400, 403, 404, 409):  # 404: another command was quicker
                raise
            if int(error.resp.status) != 404:
                refusals[one.id] = str(error.reason)
    return refusals | _wait(compute, project, operations)


def _wait(compute: Any, project: str, operations: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Wait for operations, about two minutes for all together, and return the errors of some by their keys.

    Args:
        compute: The client.
        project: The project.
        operations: Of each a key, its zone and its name.
    """
    deadline, errors = time.monotonic() + _OPERATIONS_S, {}
    for key, zone, name in operations:
        collection = compute.zoneOperations()
        ask = collection.wait if time.monotonic() < deadline else collection.get
        answer = ask(project=project, zone=zone, operation=name).execute(num_retries=_RETRIES)
        found = answer.get("error", {}).get("errors", [])
        if found:
            errors[key] = "; ".join(f"{one.get('code')}: {one.get('message', '')}" for one in found)
    return errors
