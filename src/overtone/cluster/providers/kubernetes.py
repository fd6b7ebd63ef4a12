"""Clusters on Kubernetes, which KubeRay's operator makes of a RayCluster or a RayJob."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.kubernetes.archive import archive_of
from overtone.cluster.kubernetes.connection import transport_of
from overtone.cluster.kubernetes.fields import wrong_fields
from overtone.cluster.kubernetes.manifests import (
    WORKER_GROUP,
    Versions,
    image_of,
    ray_cluster,
    ray_job,
    secrets_of,
)
from overtone.cluster.kubernetes.objects import Object, Objects, is_ours
from overtone.cluster.kubernetes.pods import began, head_of, is_head, is_leaving, main_container, state_of
from overtone.cluster.kubernetes.remote import KubernetesRemote
from overtone.cluster.kubernetes.resources import HEAD, WORKER, resources_of
from overtone.cluster.kubernetes.starting import wait_until_ready
from overtone.cluster.kubernetes.transport import KubernetesError, Pod
from overtone.cluster.node_versions import node_versions
from overtone.cluster.prices import price_of
from overtone.cluster.provider import TAG, About, Ending, Resource, Setting
from overtone.cluster.ray_form import setup_files, yaml_text
from overtone.cluster.watchdog import start_command
from overtone.version import __version__

if TYPE_CHECKING:
    from overtone.cluster.progress import Progress
    from overtone.cluster.state import State

ABOUT = About(
    settings={
        "context": Setting("text", "my-cluster"),
        "namespace": Setting("text", "default"),
        "kubeconfig": Setting("text", "~/.kube/config"),
        "image": Setting("text", "rayproject/ray:2.60.0-py311"),
        "service_account": Setting("text", "ray"),
    },
    left="nothing: no object with the cluster's label",
    place=("kubeconfig", "context", "namespace"),
    head="cpu=4,memory=16Gi",
    worker="cpu=8,memory=32Gi,gpu=1",
    has_spot=True,
    ending=Ending("overtone.cluster.kubernetes.suspension:suspend_cluster"),
)

_KINDS = ("RayJob", "RayCluster", "Pod", "Service", "Secret", "PersistentVolumeClaim")
_OWNED = ("Service",)
"""Kinds that KubeRay makes without our label; they are ours if they belong to an object that is."""

_STOP_ROUNDS = 30
"""Looks, a second apart, for what is still there; the caller then tries again."""

_ENDED = frozenset({"Complete", "Failed"})
_SPOT = (
    "Kubernetes has no label of its own for spot nodes: select them by raw, such as raw: {workerGroupSpecs: "
    '[{template: {spec: {nodeSelector: {cloud.google.com/gke-spot: "true"}}}}]}'
)


def check(config: ClusterConfig) -> str:
    """Check the resources, the files for the setup, and each field of the manifests.

    Returns:
        The manifests of `overtone up` and `overtone submit` as YAML, without the Secrets' values.

    Raises:
        ConfigError: The config cannot be used; the message names the line.
    """
    for key, text in (("head", config.head or HEAD), ("workers.type", config.workers.type or WORKER)):
        try:
            resources_of(text)
        except ValueError as error:
            raise config.error(key, str(error), text) from None
    versions, has_files = _versions(config), _archive(config) is not None
    manifests = [ray_cluster(config, versions, has_files), ray_job(config, versions, has_files)]
    for manifest, spec_path in zip(manifests, ("spec.", "spec.rayClusterSpec."), strict=True):
        for path, rule in wrong_fields(manifest):
            raise config.error(f"raw.{path.removeprefix(spec_path)}", rule)
        if config.workers.spot and not _selects_nodes(manifest):
            raise config.error("workers.spot", _SPOT, True)
    secrets = secrets_of(config, "", b"" if has_files else None)
    for secret in secrets:
        secret["data"] = dict.fromkeys(secret["data"], "...")
    return "---\n".join(yaml_text(one) for one in [*secrets, *manifests])


def find(config: ClusterConfig) -> list[Resource]:
    """Return what exists of the cluster now: objects with its label, and services that belong to these."""
    return [_resource(one, config) for one in _all(_objects(config), config)]


def start(config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
    """Start a RayCluster, or for a run a RayJob, which ends with it, and wait until it is ready.

    A cluster that is up already is taken as it is.

    Raises:
        KubernetesError: It cannot be started; the message has the last events or lines.
    """
    objects = _objects(config)
    is_job = for_run and objects.get("RayCluster", config.name) is None
    if _living_job(objects, config) is None:
        manifest = ray_job if is_job else ray_cluster
        watchdog = _watchdog(config, state)
        _make(objects, config, state, manifest(config, _versions(config), _has_files(config), watchdog))
    wait_until_ready(objects, config, progress)


def stop(config: ClusterConfig, state: State, progress: Progress) -> None:
    """Delete the cluster's objects, and wait a while until Kubernetes has deleted their pods and services."""
    objects = _objects(config)
    for one in _all(objects, config):
        # Pods and services go with their owner; one without an owner is a leftover.
        if not is_leaving(one) and not one["metadata"].get("ownerReferences"):
            objects.delete(one)
    for one in objects.select("Secret", _selector(config)):
        objects.delete(one)
    for _ in range(_STOP_ROUNDS):
        if not (left := _all(objects, config)):
            return
        progress.note(f"{len(left)} left: {', '.join(sorted({one['kind'] for one in left}))}")
        objects.sleep(1.0)


def reach(config: ClusterConfig, state: State) -> KubernetesRemote:
    """Return the head's container."""
    objects = _objects(config)

    def find_head() -> Pod:
        head = head_of(objects.select("Pod", _selector(config)))
        if head is None:
            raise KubernetesError(
                f"cluster {config.name} has no head in namespace {objects.namespace}: is it up?"
            )
        return Pod(objects.namespace, head["metadata"]["name"], main_container(head))

    is_for_run = objects.get("RayCluster", config.name) is None
    return KubernetesRemote(objects.transport, find_head, is_for_run)


def _objects(config: ClusterConfig) -> Objects:
    transport = transport_of(config)
    return Objects(transport, config.provider.settings.get("namespace") or transport.default_namespace())


def _selector(config: ClusterConfig) -> str:
    return f"{TAG}={config.name}"


def _all(objects: Objects, config: ClusterConfig) -> list[Object]:
    found = [one for kind in _KINDS for one in objects.select(kind, _selector(config))]
    known = {one["metadata"]["uid"] for one in found}
    for cluster in [one for one in found if one["kind"] == "RayCluster"]:
        for kind in _OWNED:
            for one in objects.select(kind, f"ray.io/cluster={cluster['metadata']['name']}"):
                owners = {owner.get("uid") for owner in one["metadata"].get("ownerReferences") or []}
                if owners & known and one["metadata"]["uid"] not in known:
                    found.append(one)
    return found


def _resource(one: Object, config: ClusterConfig) -> Resource:
    is_pod = one["kind"] == "Pod"
    is_worker = is_pod and not is_head(one)
    return Resource(
        kind=one["kind"],
        id=one["metadata"]["name"],
        state=state_of(one),
        since=began(one),
        node_type=(config.workers.type or WORKER if is_worker else config.head or HEAD) if is_pod else None,
        spot=is_worker and config.workers.spot,
    )


def _watchdog(config: ClusterConfig, state: State) -> str:
    """Return the command that starts the watchdog on the head."""
    prices = {}
    for key, node_type in (("head", config.head or HEAD), (WORKER_GROUP, config.workers.type or WORKER)):
        price = price_of(config, node_type, config.workers.spot and key == WORKER_GROUP)
        if price is not None:
            prices[key] = price.dollars
    return start_command(config, prices, state.info().get("began") or 0.0)


def _make(objects: Objects, config: ClusterConfig, state: State, manifest: Object) -> None:
    """Make the Secrets, and the RayCluster or RayJob with which they go."""
    secrets = secrets_of(config, state.token(), _archive(config))
    for secret in secrets:
        objects.ensure(secret)
    live = objects.ensure(manifest)
    meta = live["metadata"]
    owner = {
        "apiVersion": live["apiVersion"],
        "kind": manifest["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
    }
    for secret in secrets:
        objects.ensure({**secret, "metadata": {**secret["metadata"], "ownerReferences": [owner]}})


def _living_job(objects: Objects, config: ClusterConfig) -> Object | None:
    """Return the cluster's RayJob. One that has ended is deleted, and another one takes its place."""
    job = objects.get("RayJob", config.name)
    if job is None or not is_ours(job, config.name):
        return job
    if (job.get("status") or {}).get("jobDeploymentStatus") in _ENDED:
        objects.delete(job)
        return None
    return job


def _has_files(config: ClusterConfig) -> bool:
    return bool(setup_files(config))


def _archive(config: ClusterConfig) -> bytes | None:
    """Return the files for the setup.

    Raises:
        ConfigError: They are too large, or the folder is missing.
    """
    if not _has_files(config):
        return None
    folder = Path(str(config.files))
    if not folder.is_dir():
        raise config.error("files", "must be a folder on this machine, such as .", str(config.files))
    try:
        return archive_of(folder, setup_files(config))
    except ValueError as error:
        raise config.error("files", str(error), str(config.files)) from None


def _versions(config: ClusterConfig) -> Versions:
    """Return the versions for the pods: those of this machine.

    Raises:
        ConfigError: Neither an image nor Ray here says which version of Ray it is.
    """
    here = node_versions()
    ray, python = here["ray"], here["python"].rpartition(".")[0]
    versions = Versions(ray, python, __version__)
    image: str = image_of(config, versions)
    if not ray and not _names_version(image):
        raise config.error(
            "provider.image",
            "must name an image with a version of Ray in its tag, such as rayproject/ray:2.60.0-py311, or "
            'install Ray here: pip install "overtone[kubernetes]"',
            config.provider.settings.get("image"),
        )
    return versions


def _names_version(image: str) -> bool:
    tag = image.rpartition(":")[2]
    return tag.split("-")[0].count(".") == 2


def _selects_nodes(manifest: Mapping[str, Any]) -> bool:
    spec = manifest["spec"].get("rayClusterSpec", manifest["spec"])
    groups = spec.get("workerGroupSpecs") or []
    pods = [(group.get("template") or {}).get("spec") or {} for group in groups]
    return all(any(pod.get(key) for key in ("nodeSelector", "affinity", "tolerations")) for pod in pods)
