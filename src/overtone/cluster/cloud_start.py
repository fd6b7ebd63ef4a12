"""Starts a cluster of a cloud by Ray's launcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overtone.cluster import ray_launcher
from overtone.cluster.config import ClusterConfig
from overtone.cluster.node_versions import node_versions
from overtone.cluster.progress import Progress
from overtone.cluster.ray_document import cluster_yaml
from overtone.cluster.state import State
from overtone.errors import MissingPackageError


def start_by_ray(
    config: ClusterConfig,
    state: State,
    progress: Progress,
    complete: Callable[[dict[str, Any]], dict[str, Any]],
    is_set_up: bool,
) -> None:
    """Start the head by Ray's launcher; the autoscaler on it starts workers.

    Args:
        config: The cluster's config.
        state: The cluster's records.
        progress: Shows the phase.
        complete: Returns Ray's YAML with what only the cloud can tell.
        is_set_up: Whether the cluster has a head that was set up to the end: Ray on it is not started again,
            as that would end what runs.

    Raises:
        MissingPackageError: Ray is not installed.
        RemoteError: Ray's launcher failed.
    """
    ray_version = node_versions()["ray"]
    if not ray_version:
        raise MissingPackageError("ray[default]", config.provider.type, "starting machines")
    state.token()  # makes its file
    with progress.phase("start head", config.head or ""):
        ray = cluster_yaml(
            config,
            ray_version=ray_version,
            token_file=str(state.folder / "token"),
            began=state.info().get("began") or 0.0,
        )
        ray_launcher.up(complete(ray), state, progress, restarts=not is_set_up)
