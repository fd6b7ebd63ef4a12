"""Find a cluster's resources on AWS. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from overtone.cluster.aws import names
from overtone.cluster.aws.prices import spot_prices
from overtone.cluster.aws.session import client, error_code, explained
from overtone.cluster.resource import TAG, Resource

_ENDED = {"terminated"}
_OPEN_REQUESTS = {"open", "active"}


def resources(ec2: Any, iam: Any, name: str, region: str, key_names: Iterable[str] = ()) -> list[Resource]:
    """Return what exists of the cluster in the region: machines first, then what costs nothing by itself.

    Args:
        ec2: The client of EC2 in the region.
        iam: The client of IAM; None leaves out the role and the instance profile.
        name: The cluster's name.
        region: The region.
        key_names: Further names of key pairs that its machines may have been started with.
    """
    return [
        *_machines(ec2, instances(ec2, name, key_names)),
        *_spot_requests(ec2, name),
        *_volumes(ec2, name),
        *_addresses(ec2, name),
        *_groups(ec2, name),
        *_key_pairs(ec2, name),
        *(_access(iam, name, region) if iam else ()),
    ]


def instances(ec2: Any, name: str, key_names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return the cluster's machines that are not terminated, as the API describes them.

    A machine is the cluster's if it has the tag, or if the request that made it had one of the cluster's
    client tokens: a crash may come between the two. EC2 is asked for the machines with the cluster's key
    pair, of which those with such a token are taken: a name alone proves nothing.
    """
    found = {one["InstanceId"]: one for one in _all_instances(ec2, f"tag:{TAG}", [name])}
    keys = sorted({names.access_name(name), *key_names})
    for one in _all_instances(ec2, "key-name", keys):
        if names.is_client_token(one.get("ClientToken", ""), name):
            found.setdefault(one["InstanceId"], one)
    return list(found.values())


def clusters(region: str) -> list[str]:
    """Return the names of all of Overtone's clusters with machines in a region."""
    with explained():
        everything = list(_all_instances(client("ec2", region), "tag-key", [TAG]))
    return sorted({tag["Value"] for one in everything for tag in one.get("Tags", []) if tag["Key"] == TAG})


def _all_instances(ec2: Any, key: str, values: list[str]) -> Iterator[dict[str, Any]]:
    pages = ec2.get_paginator("describe_instances").paginate(Filters=[{"Name": key, "Values": values}])
    for page in pages:
        for reservation in page["Reservations"]:
            for one in reservation["Instances"]:
                if one["State"]["Name"] not in _ENDED:
                    yield one


def is_head(instance: dict[str, Any]) -> bool:
    """Return whether a machine is the head, by Ray's tag."""
    return {"Key": "ray-node-type", "Value": "head"} in instance.get("Tags", [])


def is_set_up(instance: dict[str, Any]) -> bool:
    """Return whether a machine is a head that Ray's launcher has set up to the end, by its tag."""
    return is_head(instance) and {"Key": "ray-node-status", "Value": "up-to-date"} in instance["Tags"]


def _machines(ec2: Any, found: list[dict[str, Any]]) -> Iterator[Resource]:
    prices = spot_prices(ec2, (one["InstanceType"] for one in found if _is_spot(one)))
    for one in found:
        yield Resource(
            "instance",
            one["InstanceId"],
            one["State"]["Name"],
            one["LaunchTime"].timestamp(),
            one["InstanceType"],
            _is_spot(one),
            prices.get(one["InstanceType"]) if _is_spot(one) else None,
        )


def _is_spot(instance: dict[str, Any]) -> bool:
    return instance.get("InstanceLifecycle") == "spot"


def _tagged(ec2: Any, operation: str, key: str, name: str) -> Iterator[dict[str, Any]]:
    tagged = [{"Name": f"tag:{TAG}", "Values": [name]}]
    if ec2.can_paginate(operation):
        for page in ec2.get_paginator(operation).paginate(Filters=tagged):
            yield from page[key]
    else:
        yield from getattr(ec2, operation)(Filters=tagged)[key]


def _spot_requests(ec2: Any, name: str) -> Iterator[Resource]:
    for one in _tagged(ec2, "describe_spot_instance_requests", "SpotInstanceRequests", name):
        if one["State"] in _OPEN_REQUESTS and not one.get("InstanceId"):  # else the machine is listed
            yield Resource("spot request", one["SpotInstanceRequestId"], one["State"])


def _volumes(ec2: Any, name: str) -> Iterator[Resource]:
    for one in _tagged(ec2, "describe_volumes", "Volumes", name):
        if one["State"] not in ("deleting", "deleted"):
            yield Resource("volume", one["VolumeId"], one["State"], one["CreateTime"].timestamp())


def _addresses(ec2: Any, name: str) -> Iterator[Resource]:
    for one in _tagged(ec2, "describe_addresses", "Addresses", name):
        yield Resource("address", one["AllocationId"], one.get("PublicIp", ""))


def _groups(ec2: Any, name: str) -> Iterator[Resource]:
    for one in _tagged(ec2, "describe_security_groups", "SecurityGroups", name):
        yield Resource("security group", one["GroupId"], one["GroupName"])


def _key_pairs(ec2: Any, name: str) -> Iterator[Resource]:
    for one in _tagged(ec2, "describe_key_pairs", "KeyPairs", name):
        yield Resource("key pair", one["KeyPairId"], one["KeyName"])


def _access(iam: Any, name: str, region: str) -> Iterator[Resource]:
    role = names.role_name(name, region)
    if names.has_tag(instance_profile(iam, role).get("Tags"), name):
        yield Resource("instance profile", role, "")
    if names.has_tag(iam_role(iam, role).get("Tags"), name):
        yield Resource("role", role, "")


def instance_profile(iam: Any, profile: str) -> dict[str, Any]:
    """Return an instance profile as the API describes it; empty if there is none of this name."""
    return _or_nothing(lambda: iam.get_instance_profile(InstanceProfileName=profile)["InstanceProfile"])


def iam_role(iam: Any, role: str) -> dict[str, Any]:
    """Return a role as the API describes it; empty if there is none of this name."""
    return _or_nothing(lambda: iam.get_role(RoleName=role)["Role"])


def _or_nothing(ask: Any) -> dict[str, Any]:
    from botocore.exceptions import ClientError

    try:
        return dict(ask())
    except ClientError as error:
        if error_code(error) != "NoSuchEntity":
            raise
        return {}
