"""Manifests of a cluster on Kubernetes: a config in, a RayCluster or RayJob and its Secrets out."""

from __future__ import annotations

import base64
import re
import shlex
from dataclasses import dataclass
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.kubernetes.merging import merged
from overtone.cluster.kubernetes.resources import HEAD, WORKER, resources_of
from overtone.cluster.marked_processes import MARK
from overtone.cluster.resource import TAG

Manifest = dict[str, Any]

API = "ray.io/v1"
TOKEN_KEY = "auth_token"
"""The key in the Secret, which KubeRay prescribes."""

HEAD_CONTAINER, WORKER_CONTAINER, WORKER_GROUP = "ray-head", "ray-worker", "worker"

CLUSTER_LABEL = "ray.io/cluster"
"""KubeRay's label with the name of the RayCluster, which it chooses itself for a RayJob."""

CLUSTER_VARIABLE = "OVERTONE_RAY_CLUSTER"
"""The variable in the pods with that name."""

GRACE_S = 60
"""Seconds from a pod's SIGTERM to its SIGKILL; less the reserve, a drained node has them for its trials."""

RESERVE_S = 10
LONGEST_S = 7 * 86400
"""The deadline of a RayJob whose config has no `limits.hours`."""

ENTRYPOINT = "python -m overtone.cluster.kubernetes.job_command"
"""The RayJob's program. It has no quotes, as KubeRay and Ray do not keep them."""

FILES_PATH = "/overtone/files"
"""The folder in each pod with `files.tar.gz`."""

_TAG_VERSION = re.compile(r":(\d+\.\d+\.\d+)")


@dataclass(frozen=True)
class Versions:
    """The versions that the pods need.

    Attributes:
        ray: Such as "2.60.0".
        python: Such as "3.11"; for Ray's own image.
        overtone: Such as "0.1.0"; installed in the pods if their image has no Overtone.
    """

    ray: str
    python: str
    overtone: str


def image_of(config: ClusterConfig, versions: Versions) -> str:
    """Return the image of the pods: `provider.image`, or Ray's own with Ray's and Python's version."""
    image = config.provider.settings.get("image")
    return str(image) if image else f"rayproject/ray:{versions.ray}-py{versions.python.replace('.', '')}"


def secrets_of(config: ClusterConfig, token: str, archive: bytes | None) -> list[Manifest]:
    """Return the Secrets: the token, and the files if there are any.

    Args:
        archive: A tar.gz of the config's files; None for no Secret with files.
    """
    secrets = [_secret(config, "token", {TOKEN_KEY: token.encode()})]
    if archive is not None:
        secrets.append(_secret(config, "files", {"files.tar.gz": archive}))
    return secrets


def ray_cluster(config: ClusterConfig, versions: Versions, has_files: bool, watchdog: str = "") -> Manifest:
    """Return the RayCluster of `overtone up`.

    Args:
        has_files: Whether there is a Secret with the config's files, which pods unpack before their set up.
        watchdog: The command that starts the watchdog on the head; "" for none.
    """
    spec = _cluster_spec(config, versions, has_files, watchdog)
    return {"apiVersion": API, "kind": "RayCluster", "metadata": _metadata(config, config.name), "spec": spec}


def ray_job(config: ClusterConfig, versions: Versions, has_files: bool, watchdog: str = "") -> Manifest:
    """Return the RayJob of `overtone submit`: a cluster that KubeRay deletes after its program's end.

    Args:
        has_files, watchdog: See `ray_cluster`.
    """
    hours = config.limits.hours
    spec = {
        "entrypoint": ENTRYPOINT,
        "submissionMode": "HTTPMode",  # no pod that submits, which would need room and the token
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": round(config.limits.cluster_idle_s),
        "activeDeadlineSeconds": LONGEST_S if hours is None else max(1, round(hours * 3600)),
        "backoffLimit": 0,  # a new cluster would wait for a command that nobody sends
        "rayClusterSpec": _cluster_spec(config, versions, has_files, watchdog),
    }
    return {"apiVersion": API, "kind": "RayJob", "metadata": _metadata(config, config.name), "spec": spec}


def labels_of(config: ClusterConfig) -> dict[str, str]:
    """Return the labels of all that belongs to the cluster."""
    return {TAG: config.name}


def _metadata(config: ClusterConfig, name: str) -> Manifest:
    return {"name": name, "labels": labels_of(config)}


def _secret(config: ClusterConfig, suffix: str, values: dict[str, bytes]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": _metadata(config, f"{config.name}-{suffix}"),
        "type": "Opaque",
        "data": {key: base64.b64encode(value).decode() for key, value in values.items()},
    }


def _cluster_spec(config: ClusterConfig, versions: Versions, has_files: bool, watchdog: str) -> Manifest:
    image = image_of(config, versions)
    head = _template(config, versions, has_files, HEAD_CONTAINER, config.head or HEAD, watchdog)
    in_tag = _TAG_VERSION.search(image)
    spec: Manifest = {
        "rayVersion": in_tag[1] if in_tag else versions.ray,
        "authOptions": {"mode": "token", "secretName": f"{config.name}-token"},
        # also where min = max: KubeRay's service account for the autoscaler may suspend the cluster
        "enableInTreeAutoscaling": True,
        "autoscalerOptions": {"idleTimeoutSeconds": round(config.workers.idle_s), "upscalingMode": "Default"},
        "headGroupSpec": {"rayStartParams": {}, "template": head},
    }
    if config.workers.max:
        template = _template(config, versions, has_files, WORKER_CONTAINER, config.workers.type or WORKER)
        template["spec"]["containers"][0]["lifecycle"] = {"preStop": {"exec": {"command": _drain()}}}
        group = {
            "groupName": WORKER_GROUP,
            "minReplicas": config.workers.min,
            "maxReplicas": config.workers.max,
            "rayStartParams": {},
            "template": template,
        }
        spec["workerGroupSpecs"] = [group]
    result: Manifest = merged(spec, config.raw)
    return result


def _template(
    config: ClusterConfig,
    versions: Versions,
    has_files: bool,
    container: str,
    resources: str,
    last_command: str = "",
) -> Manifest:
    quantities = resources_of(resources)
    main: Manifest = {
        "name": container,
        "image": image_of(config, versions),
        "args": [
            start_script(config, versions, has_files, last_command).replace("$", "$$")
        ],  # Kubernetes' escape
        "env": [
            {"name": MARK, "value": config.name},
            {
                "name": CLUSTER_VARIABLE,
                "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{CLUSTER_LABEL}']"}},
            },
            {"name": "RAY_AUTH_MODE", "value": "token"},
            {
                "name": "RAY_AUTH_TOKEN",
                "valueFrom": {"secretKeyRef": {"name": f"{config.name}-token", "key": TOKEN_KEY}},
            },
        ],
        "resources": {"requests": quantities, "limits": {**quantities}},
        "terminationMessagePolicy": "FallbackToLogsOnError",  # the last lines of a failed set up
    }
    spec: Manifest = {"terminationGracePeriodSeconds": GRACE_S, "containers": [main]}
    if account := config.provider.settings.get("service_account"):
        spec["serviceAccountName"] = account
    if has_files:
        main["volumeMounts"] = [{"name": "overtone-files", "mountPath": FILES_PATH, "readOnly": True}]
        spec["volumes"] = [{"name": "overtone-files", "secret": {"secretName": f"{config.name}-files"}}]
    return {"metadata": {"labels": labels_of(config)}, "spec": spec}


def start_script(config: ClusterConfig, versions: Versions, has_files: bool, last_command: str = "") -> str:
    """Return the shell commands that each pod runs before `ray start`, which KubeRay appends with "&&".

    Args:
        last_command: A command after the config's setup; "" for none.
    """
    package = shlex.quote(f"overtone[ray]=={versions.overtone}")
    steps = [f"python -c 'import overtone' 2>/dev/null || python -m pip install -q {package}"]
    folder = f"~/overtone_work/{config.name}"
    steps.append(f"mkdir -p {folder} && cd {folder}")
    if has_files:
        steps.append(f"tar -xzf {FILES_PATH}/files.tar.gz")
    steps += [*config.setup, "cd", *([last_command] if last_command else [])]
    # braces rather than a subshell: what a command exports is there for `ray start`
    blocks = " && ".join(f"{{ {step}\n}}" for step in steps)
    # KubeRay's commands go on after a failed one
    return f"{blocks} || {{ echo 'the set up failed' >&2; exit 64; }}"


def _drain() -> list[str]:
    left = GRACE_S - RESERVE_S
    drain = (
        "ray drain-node --reason DRAIN_NODE_REASON_PREEMPTION "
        f"--reason-message 'the pod is stopping' --deadline-remaining-seconds {left}"
    )
    # Ray ends a drained node when it is idle, and with it the container and this wait
    return ["/bin/bash", "-c", f"{drain} && sleep {left}"]
