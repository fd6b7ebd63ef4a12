"""Amazon EC2, by Ray's launcher: machines, disks, key pair, security group and role of one cluster."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from overtone.cluster.cloud_keys import check_cloud, head_remote
from overtone.cluster.provider import About, Ending, Listing, RayKeys, Resource, Setting
from overtone.cluster.ray_document import planned_yaml
from overtone.cluster.ray_form import yaml_text

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.progress import Progress
    from overtone.cluster.remote import Remote
    from overtone.cluster.state import State

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
_NODE_TYPE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")


ABOUT = About(
    settings={
        "region": Setting("text", "eu-west-1", True),
        "zone": Setting("text", "eu-west-1a"),
        "subnets": Setting("texts", "[subnet-0123456789abcdef0]"),
        "image": Setting("text", "ami-0123456789abcdef0"),
        "disk": Setting("gigabytes", "100"),
        "ssh_from": Setting("text", "203.0.113.7/32"),
        "instance_profile": Setting("text", "my-profile"),
    },
    left="nothing: no instance, volume, address, key pair, security group or role with the cluster's tag",
    place=("region",),
    default_head="m6i.large",
    machine_types="required",
    has_prices=True,
    has_spot=True,
    reuses_addresses=True,
    ending=Ending("overtone.cluster.aws.ending:end_from_head", ("region",), shuts_down=True),
    listing=Listing("overtone.cluster.aws.existing:clusters", "region", ("AWS_REGION", "AWS_DEFAULT_REGION")),
    ray=RayKeys("overtone.cluster.aws.ray_keys:add_keys", "InstanceType"),
)


def check(config: ClusterConfig) -> str:
    """Check what only AWS knows of the config, without the network, and return Ray's cluster YAML.

    Raises:
        ConfigError: The config cannot be used; the message names the line.
    """
    settings = config.provider.settings
    region = settings.get("region", "")
    if not _REGION.fullmatch(region):
        raise config.error("provider.region", "must be a region of AWS, such as eu-west-1", region)
    if not settings.get("zone", region).startswith(region):
        raise config.error("provider.zone", f"must be in {region}, such as {region}a", settings["zone"])
    for key, node_type in (("head", config.head), ("workers.type", config.workers.type)):
        if node_type and not config.is_ray and not _NODE_TYPE.fullmatch(node_type):
            raise config.error(key, "must be a machine type of AWS, such as m6i.large", node_type)
    image = settings.get("image", "ami-")
    if not image.startswith(("ami-", "/")):
        raise config.error("provider.image", "must be an image, such as ami-0123456789abcdef0", image)
    if "ssh_from" in settings:
        try:
            ipaddress.ip_network(settings["ssh_from"])
        except ValueError:
            rule = "must be a network in CIDR form, such as 203.0.113.7/32"
            raise config.error("provider.ssh_from", rule, settings["ssh_from"]) from None
    check_cloud(config)
    return yaml_text(planned_yaml(config))


def find(config: ClusterConfig) -> list[Resource]:
    """Return what exists of this cluster now. Reads only.

    Raises:
        CloudError: AWS refuses the requests or does not answer; the message says what to do.
    """
    from overtone.cluster.aws import existing
    from overtone.cluster.aws.session import client, explained

    region = config.provider.settings["region"]
    with explained():
        return existing.resources(
            client("ec2", region), client("iam", region), config.name, region, _key_names(config)
        )


def start(config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
    """Start the cluster by Ray's launcher; what is there already is not changed.

    Raises:
        CloudError: AWS refuses something; the message says what to do and what exists by then.
    """
    from overtone.cluster.aws import existing, launch
    from overtone.cluster.aws.ray_keys import add_keys
    from overtone.cluster.aws.session import client, explained
    from overtone.cluster.cloud_start import start_by_ray

    def complete(ray: dict[str, Any]) -> dict[str, Any]:
        return launch.prepare(add_keys(ray, config), config.provider.settings, state)

    with explained():
        machines = existing.instances(client("ec2", config.provider.settings["region"]), config.name)
        start_by_ray(config, state, progress, complete, any(map(existing.is_set_up, machines)))


def stop(config: ClusterConfig, state: State, progress: Progress) -> None:
    """Terminate the cluster's machines, wait for that, and delete all else of it.

    Nothing is deleted by its name alone. Two commands may do this at once.

    Raises:
        CloudError: Something is left; the message lists it and says why.
    """
    from overtone.cluster.aws import deletion, existing
    from overtone.cluster.aws.session import client, explained

    region = config.provider.settings["region"]
    left: list[Resource] = []
    with explained(left):
        ec2, iam = client("ec2", region), client("iam", region)
        left += existing.resources(ec2, iam, config.name, region, _key_names(config))
        deletion.terminate_instances(ec2, config.name, _key_names(config))
        deletion.delete_rest(ec2, iam, config.name, region, left)


def reach(config: ClusterConfig, state: State) -> Remote:
    """Return how commands run on the head.

    Raises:
        CloudError: The cluster has no head, or it has no public address.
    """
    from overtone.cluster.aws import existing
    from overtone.cluster.aws.session import client, explained
    from overtone.cluster.cloud_errors import CloudError

    region = config.provider.settings["region"]
    with explained():
        heads = [
            one for one in existing.instances(client("ec2", region), config.name) if existing.is_head(one)
        ]
    if not heads:
        raise CloudError(f"cluster {config.name} has no head in {region}: start it by `overtone up`")
    address = heads[0].get("PublicIpAddress") or heads[0].get("PrivateIpAddress")
    if not address:
        raise CloudError(
            f"the head {heads[0]['InstanceId']} has no address yet: repeat the command in a minute"
        )
    return head_remote(config, state, address)


def _key_names(config: ClusterConfig) -> list[str]:
    """Return the names of key pairs that the user's own YAML has for machines."""
    types = config.raw.get("available_node_types", {})
    nodes = [one.get("node_config", {}) for one in types.values()] if isinstance(types, Mapping) else []
    return [node["KeyName"] for node in nodes if isinstance(node.get("KeyName"), str)]
