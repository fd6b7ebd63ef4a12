"""The keys of Ray's cluster YAML that Google Compute Engine needs. Pure: no network, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from overtone.cluster.cloud_keys import DISK_GB, with_cloud_keys
from overtone.cluster.gcp.machine_types import has_gpu, resources_of
from overtone.cluster.resource import TAG

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

MODULE = "overtone.cluster.gcp.node_provider.NodeProvider"
"""Ray's provider for GCP, with machines on demand where spot ones are missing."""

IMAGE = "projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts"
"""The image of machines without GPUs."""

_GRACE_S = 900  # The head's own watchdog comes first.
_DEFAULT_HEAD, _DEFAULT_WORKER = "e2-standard-2", "e2-standard-4"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def add_keys(ray: dict[str, Any], config: ClusterConfig, ray_version: str | None = None) -> dict[str, Any]:
    """Return Ray's cluster YAML with the keys that GCP needs; those that it has already are kept.

    Three keys are set even if the user's own YAML says otherwise: stopped machines are never kept, as
    their disks cost; the label of the cluster is on every machine and disk; and the head is on demand.

    Args:
        ray: The YAML in general form. Not modified.
        config: The cluster's config.
        ray_version: Ray's version on a machine without Ray; None for that of this Python.
    """
    settings = config.provider.settings
    provider = {"module": MODULE}
    if "project" in settings:
        provider["project_id"] = settings["project"]
    if "zone" in settings:
        provider["availability_zone"] = settings["zone"]
        provider["region"] = settings["zone"].rpartition("-")[0]
    return with_cloud_keys(ray, config, provider, partial(_add_to_node, config), ray_version)


def _add_to_node(config: ClusterConfig, node_type: dict[str, Any], is_head: bool) -> None:
    settings, workers = config.provider.settings, config.workers
    node = node_type.setdefault("node_config", {})
    machine = config.head or _DEFAULT_HEAD if is_head else workers.type or _DEFAULT_WORKER
    machine = str(node.setdefault("machineType", machine)).rpartition("/")[2]
    if not node_type.get("resources"):  # Ray fills them for AWS alone
        node_type["resources"] = resources_of(machine)
    node.setdefault("labels", {})[TAG] = config.name
    if "sourceInstanceTemplate" not in node:
        disk = {
            "diskSizeGb": int(settings.get("disk", DISK_GB)),
            "sourceImage": settings.get("image", IMAGE),
        }
        node.setdefault("disks", [{"boot": True, "type": "PERSISTENT", "initializeParams": disk}])
    for disk in node.get("disks", []):
        disk["autoDelete"] = True
        disk.setdefault("initializeParams", {}).setdefault("labels", {})[TAG] = config.name
    node["scheduling"] = _scheduling(node, machine, config, is_head=is_head)
    if "network" in settings:
        access = [{"name": "External NAT", "type": "ONE_TO_ONE_NAT"}]
        network = {"network": f"global/networks/{settings['network']}", "accessConfigs": access}
        node.setdefault("networkInterfaces", [network])
    if "service_account" in settings:
        node.setdefault("serviceAccounts", [{"email": settings["service_account"], "scopes": [_SCOPE]}])


def _scheduling(
    node: Mapping[str, Any], machine: str, config: ClusterConfig, *, is_head: bool
) -> dict[str, Any]:
    """Return a machine's scheduling: spot or not, and when GCP itself deletes it if nobody else does."""
    given = node.get("scheduling") or {}
    parts = given if isinstance(given, list) else [given]  # Ray's own examples have a list
    scheduling = {key: value for part in parts for key, value in part.items()}
    is_spot = scheduling.pop("preemptible", False) or scheduling.get("provisioningModel") == "SPOT"
    scheduling.pop("provisioningModel", None)
    if not is_head and (is_spot or (config.workers.spot and not config.is_ray)):
        scheduling.update(provisioningModel="SPOT", automaticRestart=False)
        scheduling.update(instanceTerminationAction="DELETE", onHostMaintenance="TERMINATE")
    if has_gpu(machine) or node.get("guestAccelerators"):
        scheduling.setdefault("onHostMaintenance", "TERMINATE")
    if config.limits.hours is not None:
        scheduling["maxRunDuration"] = {"seconds": int(config.limits.hours * 3600) + _GRACE_S}
        scheduling["instanceTerminationAction"] = "DELETE"
    return scheduling
