"""Google Compute Engine, by Ray's launcher: machines and disks of one cluster."""

from __future__ import annotations

import re
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

_ZONE = re.compile(r"[a-z]+-[a-z]+\d+-[a-z]")
_PROJECT = re.compile(r"([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")


ABOUT = About(
    settings={
        "project": Setting("text", "my-project", True),
        "zone": Setting("text", "us-central1-a", True),
        "image": Setting("text", "projects/my-project/global/images/family/my-image"),
        "disk": Setting("gigabytes", "100"),
        "network": Setting("text", "default"),
        "service_account": Setting("text", "ray@my-project.iam.gserviceaccount.com"),
    },
    left="nothing: no instance and no disk with the cluster's label",
    place=("project", "zone"),
    head="n2-standard-4",
    worker="n2-standard-8",
    default_head="n2-standard-2",
    machine_types="required",
    has_prices=True,
    has_spot=True,
    reuses_addresses=True,
    ending=Ending("overtone.cluster.gcp.ending:end_from_head", ("project",), shuts_down=True),
    listing=Listing(
        "overtone.cluster.gcp.compute:clusters", "project", ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT")
    ),
    ray=RayKeys("overtone.cluster.gcp.ray_keys:add_keys", "machineType"),
)


def check(config: ClusterConfig) -> str:
    """Check what only GCP knows of the config, without the network, and return Ray's cluster YAML.

    Raises:
        ConfigError: The config cannot be used; the message names the line.
    """
    from overtone.cluster.gcp.machine_types import has_gpu, resources_of

    settings = config.provider.settings
    zone, project = settings.get("zone", ""), settings.get("project", "")
    if not _ZONE.fullmatch(zone):
        raise config.error("provider.zone", "must be a zone of Google Cloud, such as us-central1-a", zone)
    if not _PROJECT.fullmatch(project):
        raise config.error("provider.project", "must be the ID of a project, such as my-project-123", project)
    for key, machine in (("head", config.head), ("workers.type", config.workers.type)):
        if machine and not config.is_ray:
            if not resources_of(machine):
                rule = (
                    "must be a machine type of Google Cloud whose CPUs its name tells, such as n2-standard-4"
                )
                raise config.error(key, rule, machine)
            if has_gpu(machine) and "image" not in settings:
                rule = (
                    "needs an image with NVIDIA's drivers, such as provider.image: projects/"
                    "deeplearning-platform-release/global/images/family/common-cu128-ubuntu-2204-nvidia-570"
                )
                raise config.error(key, rule, machine)
    check_cloud(config)
    return yaml_text(planned_yaml(config))


def find(config: ClusterConfig) -> list[Resource]:
    """Return what exists of this cluster now, in all zones of the project. Reads only.

    Raises:
        CloudError: Google Cloud refuses the requests or does not answer; the message says what to do.
    """
    from overtone.cluster.gcp import compute

    with compute.opened() as api:
        return compute.resources(api, config.provider.settings["project"], config.name)


def start(config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
    """Start the cluster by Ray's launcher; what is there already is not changed.

    Raises:
        CloudError: Google Cloud refuses something; the message says what to do.
    """
    from overtone.cluster.cloud_start import start_by_ray
    from overtone.cluster.gcp import compute
    from overtone.cluster.gcp.access import with_access
    from overtone.cluster.gcp.ray_keys import add_keys

    def complete(ray: dict[str, Any]) -> dict[str, Any]:
        return with_access(add_keys(ray, config), state)

    with compute.opened() as api:
        head = compute.head_of(api, config.provider.settings["project"], config.name)
        is_set_up = head is not None and head["labels"].get("ray-node-status") == "up-to-date"
        start_by_ray(config, state, progress, complete, is_set_up)


def stop(config: ClusterConfig, state: State, progress: Progress) -> None:
    """Delete the cluster's machines and disks, by its label, and wait until none is left.

    Raises:
        CloudError: Something is left; the message lists it and says why.
    """
    from overtone.cluster.gcp import compute

    left: list[Resource] = []
    with compute.opened(left) as api:
        compute.delete_all(api, config.provider.settings["project"], config.name, left)


def reach(config: ClusterConfig, state: State) -> Remote:
    """Return how commands run on the head.

    Raises:
        CloudError: The cluster has no running head.
    """
    from overtone.cluster.cloud_errors import CloudError
    from overtone.cluster.gcp import compute

    project = config.provider.settings["project"]
    with compute.opened() as api:
        head = compute.head_of(api, project, config.name)
    if head is None:
        raise CloudError(f"cluster {config.name} has no head in {project}: start it by `overtone up`")
    interface = head["networkInterfaces"][0]
    addresses = [access["natIP"] for access in interface.get("accessConfigs", []) if "natIP" in access]
    address = addresses[0] if addresses else interface["networkIP"]
    return head_remote(config, state, address)
