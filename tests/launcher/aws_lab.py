"""An account on a fake AWS, clusters in it, and what they start without SSH.

Machines of moto have no shell: the part of Ray's launcher that works over SSH is replaced
(`WithoutSSH`), and so nothing here shows that a head starts Ray.
"""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from overtone.cluster.aws import existing, launch
from overtone.cluster.aws.ray_keys import add_keys
from overtone.cluster.aws.session import client
from overtone.cluster.config import ClusterConfig
from overtone.cluster.config_reading import read_config
from overtone.cluster.progress import Progress
from overtone.cluster.providers import aws as provider
from overtone.cluster.state import State
from tests.launcher.aws_servers import REGION, Aws

MARKS = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
    pytest.mark.usefixtures("close_what_ray_left_open"),
]
"""Of all tests that run Ray's launcher in their own process: it leaves files open."""

TAG = {"Key": "overtone-cluster", "Value": "digits"}
CONFIG = """\
name: digits
provider: {type: aws, region: eu-west-1, image: ami-12c6146b, ssh_from: 192.0.2.7/32}
head: m6i.large
workers: {type: g5.xlarge, min: 0, max: 8, spot: true}
"""


def empty_account(server: Aws, home: Path, monkeypatch: pytest.MonkeyPatch) -> Aws:
    """Return an account without anything in it, and have this process and its children use it."""
    for key in [key for key in os.environ if key.startswith("AWS_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OVERTONE_HOME", str(home / "overtone"))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    urllib.request.urlopen(urllib.request.Request(f"{server.moto_url}/moto-api/reset", method="POST"))
    server.requests.clear()
    server.faults.clear()
    return server


def written(folder: Path, text: str) -> ClusterConfig:
    path = folder / "cluster.yaml"
    path.write_text(text)
    return read_config(path)


class WithoutSSH:
    """In place of Ray's thread that sets up a node over SSH: the node counts as set up."""

    exitcode = 0

    def __init__(self, **arguments: Any) -> None:
        pass

    def start(self) -> None:
        pass

    def join(self) -> None:
        pass


def ray_form(config: ClusterConfig, **provider_keys: Any) -> dict[str, Any]:
    """Return Ray's YAML for a config, with AWS's keys."""
    if config.is_ray:
        general = dict(config.raw)
    else:
        worker = {"node_config": {}, "min_workers": config.workers.min, "max_workers": config.workers.max}
        general = {
            "cluster_name": config.name,
            "max_workers": config.workers.max,
            "provider": {"type": "aws", **config.provider.settings, **provider_keys},
            "head_node_type": "head",
            "available_node_types": {"head": {"node_config": {}, "max_workers": 0}, "worker": worker},
        }
    return add_keys(general, config)


def up(config: ClusterConfig, **provider_keys: Any) -> dict[str, Any]:
    """Start a cluster by Ray's launcher, but for what it does over SSH; return Ray's final config."""
    from ray.autoscaler._private import commands

    state = State.open(config)
    ray = launch.prepare(ray_form(config, **provider_keys), config.provider.settings, state)
    file = state.folder / "ray.yaml"
    file.write_text(json.dumps(ray))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commands, "NodeUpdaterThread", WithoutSSH)
        return dict(
            commands.create_or_update_cluster(str(file), None, None, False, False, True, no_config_cache=True)
        )


def launch_workers(ray: dict[str, Any], count: int, node_type: str = "worker") -> list[BaseException]:
    """Start workers as Ray's autoscaler does on the head, and return the errors."""
    from ray.autoscaler._private.providers import _get_node_provider
    from ray.autoscaler.v2.instance_manager.config import AutoscalingConfig
    from ray.autoscaler.v2.instance_manager.node_provider import NodeProviderAdapter

    class Reader:
        def get_cached_autoscaling_config(self) -> AutoscalingConfig:
            return AutoscalingConfig(ray, skip_content_hash=True)

    nodes = _get_node_provider(ray["provider"], ray["cluster_name"])
    adapter = NodeProviderAdapter(nodes, Reader())
    adapter._launch_nodes_by_type(node_type, count, "request-1")
    return [error.__cause__ for error in adapter.poll_errors()]


def down(config: ClusterConfig) -> None:
    provider.stop(config, State.open(config), Progress(is_quiet=True))


def machines(name: str = "digits") -> list[dict[str, Any]]:
    return existing.instances(client("ec2", REGION), name)


def all_machines() -> dict[str, str]:
    """Return the state of every machine in the region by its ID."""
    pages = client("ec2", REGION).get_paginator("describe_instances").paginate()
    listed = [
        one for page in pages for reservation in page["Reservations"] for one in reservation["Instances"]
    ]
    return {one["InstanceId"]: one["State"]["Name"] for one in listed}


def kinds(config: ClusterConfig) -> list[str]:
    return [one.kind for one in provider.find(config)]


ALL = ["instance", "volume", "security group", "key pair", "instance profile", "role"]
