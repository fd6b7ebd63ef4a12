"""Makes what a cluster needs on AWS before its first machine, and puts it into Ray's YAML."""

from __future__ import annotations

import copy
import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.cluster import ssh_keys
from overtone.cluster.aws import access, existing, images
from overtone.cluster.aws.session import client
from overtone.cluster.cloud_errors import CloudError

if TYPE_CHECKING:
    from overtone.cluster.state import State

_ADDRESS_URL = "https://checkip.amazonaws.com"


def prepare(ray: dict[str, Any], settings: Mapping[str, Any], state: State) -> dict[str, Any]:
    """Return Ray's YAML with the images, the network and the access that only AWS can tell.

    What the YAML names already is used as it is, and not made.

    Args:
        ray: The YAML with the keys of `ray_keys.add_keys`. Not modified.
        settings: The settings of the provider.
        state: The cluster's state, which has the private key, and the images of a cluster that is up.
    """
    name = state.name
    ray, region = copy.deepcopy(ray), ray["provider"]["region"]
    nodes = {key: one["node_config"] for key, one in ray["available_node_types"].items()}
    head = nodes[ray["head_node_type"]]
    ec2 = client("ec2", region)
    _choose_images(nodes, region, settings.get("image", ""), state, existing.instances(ec2, name) != [])
    if "ssh_private_key" not in ray["auth"]:
        key = ssh_keys.private_key(state.folder)
        key_name = access.ensure_key_pair(ec2, name, key)
        ray["auth"]["ssh_private_key"] = str(key)
        for node in nodes.values():
            node["KeyName"] = key_name
    if any("SecurityGroupIds" not in node and "NetworkInterfaces" not in node for node in nodes.values()):
        subnets = list(head.get("SubnetIds", []))
        group = access.ensure_group(ec2, name, subnets, ssh_network(settings.get("ssh_from")))
        for node in nodes.values():
            if "NetworkInterfaces" not in node:
                node.setdefault("SecurityGroupIds", [group])
    if "IamInstanceProfile" not in head:
        head["IamInstanceProfile"] = {"Name": access.ensure_profile(client("iam", region), name, region)}
    return ray


def _choose_images(
    nodes: Mapping[str, dict[str, Any]], region: str, image: str, state: State, is_up: bool
) -> None:
    """Choose the image of each node type.

    A cluster that is up keeps those that it has: Ray's launcher would replace a head whose image is
    another, such as one that was published since.
    """
    chosen: dict[str, str] = dict(state.info().get("images", {})) if is_up else {}
    for node in nodes.values():
        if "ImageId" in node or "LaunchTemplate" in node:
            continue
        parameter = image or images.image_parameter(node["InstanceType"])
        if parameter not in chosen:
            chosen[parameter] = images.image_of(client("ssm", region), parameter)
        node["ImageId"] = chosen[parameter]
    if chosen:
        state.update(images=chosen)


def ssh_network(network: str | None) -> str:
    """Return the network that may reach port 22: the one given, or this machine's public address alone.

    Raises:
        CloudError: The address cannot be found out.
    """
    if network:
        return network
    import urllib.request

    try:
        with urllib.request.urlopen(_ADDRESS_URL, timeout=5) as answer:
            address = ipaddress.ip_address(answer.read(100).decode().strip())
    except (OSError, ValueError) as error:
        raise CloudError(
            f"this machine's public address is unknown ({_ADDRESS_URL}: {error}): say who may reach port 22 "
            'of the cluster, such as `provider: {ssh_from: "203.0.113.7/32"}`'
        ) from error
    return f"{address}/{address.max_prefixlen}"
