"""Deletes what exists of a cluster on AWS: machines first, and only what was found by its tag or token."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from overtone.cluster.aws import existing
from overtone.cluster.aws.session import BAD_CREDENTIALS, error_code
from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.resource import Resource

_GONE = {
    "InvalidAllocationID.NotFound",
    "InvalidGroup.NotFound",
    "InvalidInstanceID.NotFound",
    "InvalidKeyPair.NotFound",
    "InvalidSpotInstanceRequestID.NotFound",
    "InvalidVolume.NotFound",
    "NoSuchEntity",
}
_REFUSED = {"AccessDenied", "OperationNotPermitted", "UnauthorizedOperation"}
"""Errors that the next attempt has, too. Others, such as those about use, may pass."""

_LONGEST_PAUSE_S = 10.0
_BATCH = 100  # machines in one request


def terminate_instances(
    ec2: Any, name: str, key_names: Iterable[str] = (), timeout_s: float = 900.0, pause_s: float = 1.0
) -> None:
    """Terminate all machines of the cluster, and wait until they are terminated.

    The head goes first: it is what starts workers.

    Args:
        ec2: The client of EC2.
        name: The cluster's name.
        key_names: See `existing.instances`.
        timeout_s: How long to wait.
        pause_s: The first pause between two looks; it doubles up to ten seconds.

    Raises:
        CloudError: Some are not terminated within `timeout_s`, or may not be; it lists them.
    """
    deadline = time.monotonic() + timeout_s
    keys = list(key_names)
    refusals: dict[str, str] = {}
    while machines := existing.instances(ec2, name, keys):
        for is_head in (True, False):
            some = [one for one in machines if existing.is_head(one) is is_head]
            _terminate(ec2, [one["InstanceId"] for one in some if not _is_ending(one)], refusals)
        if time.monotonic() >= deadline or _is_hopeless(refusals, len(machines)):
            why = _reasons(refusals)
            text = f"machines of cluster {name} could not be terminated{why}"
            raise CloudError(text, list(map(_resource, machines)))
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def request_end(ec2: Any, machines: Iterable[dict[str, Any]]) -> None:
    """Request the end of machines one after the other, of each also if another one was refused.

    Args:
        ec2: The client of EC2.
        machines: The machines as the API describes them; the one that this process runs on comes last.

    Raises:
        CloudError: Some were refused; it lists them.
    """
    refusals: dict[str, str] = {}
    asked = list(machines)
    for one in asked:
        _terminate(ec2, [one["InstanceId"]], refusals)
    if refusals:
        left = [_resource(one) for one in asked if one["InstanceId"] in refusals]
        raise CloudError(f"machines could not be terminated{_reasons(refusals)}", left)


def _resource(machine: dict[str, Any]) -> Resource:
    return Resource("instance", machine["InstanceId"], machine["State"]["Name"])


def _is_ending(machine: dict[str, Any]) -> bool:
    return bool(machine["State"]["Name"] == "shutting-down")


def _terminate(ec2: Any, ids: list[str], refusals: dict[str, str]) -> None:
    """Request the end of machines: many in a request, and one by one if AWS refuses that for one of them."""
    for start in range(0, len(ids), _BATCH):
        some, together = ids[start : start + _BATCH], dict[str, str]()
        _try(partial(ec2.terminate_instances, InstanceIds=some), "", together)
        for id in some:
            refusals.pop(id, None)
            if together:
                _try(partial(ec2.terminate_instances, InstanceIds=[id]), id, refusals)


def delete_rest(
    ec2: Any, iam: Any, name: str, region: str, left: list[Resource], timeout_s: float = 180.0
) -> None:
    """Delete all else of the cluster, once its machines are terminated.

    A resource that is still in use, such as a group whose last network interface is being removed, is
    tried again until `timeout_s`. One that another command has deleted meanwhile counts as deleted.

    Args:
        ec2: The client of EC2.
        iam: The client of IAM.
        name: The cluster's name.
        region: The region.
        left: Is kept up to date with what is left.
        timeout_s: How long to try.

    Raises:
        CloudError: Something is left; it lists it.
    """
    deadline, pause_s = time.monotonic() + timeout_s, 1.0
    while True:
        refusals: dict[str, str] = {}
        left[:] = existing.resources(ec2, iam, name, region)
        for resource in left:
            if resource.kind in _DELETIONS:
                _try(partial(_DELETIONS[resource.kind], ec2, iam, resource), resource.id, refusals)
        left[:] = existing.resources(ec2, iam, name, region)
        if not left:
            return
        if time.monotonic() >= deadline or _is_hopeless(refusals, len(left)):
            raise CloudError(f"something of cluster {name} could not be deleted{_reasons(refusals)}", left)
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _try(delete: Callable[[], Any], id: str, refusals: dict[str, str]) -> None:
    """Delete something; note in `refusals` why it could not be deleted, beginning with AWS's error code.

    An error that says that it is gone is not noted, except for several resources together (`id` is "").

    Raises:
        ClientError: The credentials are refused, which no other resource changes.
    """
    from botocore.exceptions import ClientError
    from botocore.parsers import ResponseParserError

    try:
        delete()
        refusals.pop(id, None)
    except ClientError as error:
        code = error_code(error)
        if code in BAD_CREDENTIALS:
            raise
        if code not in _GONE or not id:
            refusals[id] = f"{code}: {error.response['Error'].get('Message', '')[:200]}"
    except ResponseParserError as error:  # such as the page of a proxy
        refusals[id] = f"unknown answer: {str(error)[:200]}"


def _is_hopeless(refusals: dict[str, str], n_left: int) -> bool:
    """Return whether everything that is left was refused for good."""
    return n_left == sum(text.partition(":")[0] in _REFUSED for text in refusals.values())


def _reasons(refusals: dict[str, str]) -> str:
    return "".join(f"; {id}: {text}" for id, text in refusals.items())


def _delete_volume(ec2: Any, iam: Any, volume: Resource) -> None:
    ec2.delete_volume(VolumeId=volume.id)


def _release_address(ec2: Any, iam: Any, address: Resource) -> None:
    ec2.release_address(AllocationId=address.id)


def _cancel_request(ec2: Any, iam: Any, request: Resource) -> None:
    ec2.cancel_spot_instance_requests(SpotInstanceRequestIds=[request.id])


def _delete_group(ec2: Any, iam: Any, group: Resource) -> None:
    ec2.delete_security_group(GroupId=group.id)


def _delete_key_pair(ec2: Any, iam: Any, pair: Resource) -> None:
    ec2.delete_key_pair(KeyPairId=pair.id)


def _delete_profile(ec2: Any, iam: Any, profile: Resource) -> None:
    for role in existing.instance_profile(iam, profile.id).get("Roles", []):
        iam.remove_role_from_instance_profile(InstanceProfileName=profile.id, RoleName=role["RoleName"])
    iam.delete_instance_profile(InstanceProfileName=profile.id)


def _delete_role(ec2: Any, iam: Any, role: Resource) -> None:
    for page in iam.get_paginator("list_role_policies").paginate(RoleName=role.id):
        for policy in page["PolicyNames"]:
            iam.delete_role_policy(RoleName=role.id, PolicyName=policy)
    for page in iam.get_paginator("list_attached_role_policies").paginate(RoleName=role.id):
        for policy in page["AttachedPolicies"]:
            iam.detach_role_policy(RoleName=role.id, PolicyArn=policy["PolicyArn"])
    iam.delete_role(RoleName=role.id)


_DELETIONS: dict[str, Callable[[Any, Any, Resource], None]] = {
    "spot request": _cancel_request,
    "volume": _delete_volume,
    "address": _release_address,
    "security group": _delete_group,
    "key pair": _delete_key_pair,
    "instance profile": _delete_profile,
    "role": _delete_role,
}
