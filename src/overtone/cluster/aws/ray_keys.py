"""The keys of Ray's cluster YAML that AWS needs. Pure: no network, no clock."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from overtone.cluster.aws.names import tags
from overtone.cluster.cloud_keys import DISK_GB, with_cloud_keys

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

MODULE = "overtone.cluster.aws.node_provider.NodeProvider"
"""Ray's provider for AWS, with client tokens, and with on-demand machines where spot ones are missing."""

_ROOT_DEVICE = "/dev/sda1"  # that of Ubuntu's images
_SPOT = {"MarketType": "spot", "SpotOptions": {"SpotInstanceType": "one-time"}}
_DEFAULT_HEAD, _DEFAULT_WORKER = "m6i.large", "m6i.xlarge"


def add_keys(ray: dict[str, Any], config: ClusterConfig, ray_version: str | None = None) -> dict[str, Any]:
    """Return Ray's cluster YAML with the keys that AWS needs; those that it has already are kept.

    Three keys are set even if the user's own YAML says otherwise: stopped machines are never kept, as
    their disks cost and no list shows them; the tag of the cluster is on every machine and disk; and the
    head is on demand.

    Args:
        ray: The YAML in general form. Not modified.
        config: The cluster's config.
        ray_version: Ray's version on a machine without Ray; None for that of this Python.
    """
    settings = config.provider.settings
    provider = {"module": MODULE}
    if "region" in settings:
        provider["region"] = settings["region"]
    if "zone" in settings:
        own = ray.get("provider", {})
        provider["availability_zone"] = own.get("availability_zone", settings["zone"])
    return with_cloud_keys(ray, config, provider, partial(_add_to_node, config), ray_version)


def _add_to_node(config: ClusterConfig, node_type: dict[str, Any], is_head: bool) -> None:
    settings, workers = config.provider.settings, config.workers
    node_type.setdefault("resources", {})  # Ray fills them from the machine type
    node = node_type.setdefault("node_config", {})
    chosen = config.head or _DEFAULT_HEAD if is_head else workers.type or _DEFAULT_WORKER
    node.setdefault("InstanceType", chosen)
    node["InstanceInitiatedShutdownBehavior"] = "terminate"
    node.setdefault("MetadataOptions", {"HttpTokens": "required", "HttpPutResponseHopLimit": 2})
    if "LaunchTemplate" not in node:
        node.setdefault("BlockDeviceMappings", [_disk(int(settings.get("disk", DISK_GB)))])
    for mapping in node.get("BlockDeviceMappings", []):
        if "Ebs" in mapping:
            mapping["Ebs"]["DeleteOnTermination"] = True
    if is_head:
        node.pop("InstanceMarketOptions", None)
    elif workers.spot:
        node.setdefault("InstanceMarketOptions", copy.deepcopy(_SPOT))
    _add_tags(node, config.name)
    if "subnets" in settings:
        node.setdefault("SubnetIds", list(settings["subnets"]))
    if "instance_profile" in settings:
        node.setdefault("IamInstanceProfile", {"Name": settings["instance_profile"]})
    image = settings.get("image", "")
    if image.startswith("ami-"):
        node.setdefault("ImageId", image)


def _disk(size_gb: int) -> dict[str, Any]:
    ebs = {"VolumeSize": size_gb, "VolumeType": "gp3", "DeleteOnTermination": True}
    return {"DeviceName": _ROOT_DEVICE, "Ebs": ebs}


def _add_tags(node: dict[str, Any], name: str) -> None:
    """Add the cluster's tag to what a node's request makes: its machine, its disks, and the spot request."""
    specifications = node.setdefault("TagSpecifications", [])
    is_spot = "InstanceMarketOptions" in node
    for kind in ("instance", "volume", *(["spot-instances-request"] if is_spot else [])):
        matching = [one for one in specifications if one.get("ResourceType") == kind]
        if not matching:
            matching = [{"ResourceType": kind, "Tags": []}]
            specifications.extend(matching)
        (own,) = tags(name)
        kept = [tag for tag in matching[0].get("Tags", []) if tag.get("Key") != own["Key"]]
        matching[0]["Tags"] = [*kept, own]
