"""GCP: finding and deleting by label against a small fake of Compute Engine, and the keys of Ray's YAML."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("googleapiclient")
pytest.importorskip("ray")

import google.auth
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import DefaultCredentialsError, RefreshError

from overtone.cli import main
from overtone.cluster.cloud_clusters import cloud_clusters
from overtone.cluster.cloud_errors import CloudError
from overtone.cluster.config import ClusterConfig, ConfigError
from overtone.cluster.config_reading import read_config
from overtone.cluster.gcp import compute as api
from overtone.cluster.gcp.access import with_access
from overtone.cluster.gcp.ending import end_from_head
from overtone.cluster.gcp.machine_types import resources_of
from overtone.cluster.gcp.node_provider import SPOT_WAIT_KEY
from overtone.cluster.gcp.ray_keys import add_keys
from overtone.cluster.progress import Progress
from overtone.cluster.providers import gcp as provider
from overtone.cluster.ray_form import ray_yaml
from overtone.cluster.state import State
from tests.launcher.fake_compute import Compute, compute_server

CONFIG = """\
name: digits
provider: {type: gcp, project: my-lab, zone: us-central1-a}
head: e2-standard-2
workers: {type: n2-standard-8, min: 0, max: 4, spot: true}
limits: {hours: 2}
"""
OURS = {"overtone-cluster": "digits"}
HEAD = {**OURS, "ray-cluster-name": "digits", "ray-node-type": "head", "ray-node-status": "up-to-date"}


@pytest.fixture
def compute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Compute]:
    with compute_server() as server:
        monkeypatch.setenv(api.ENDPOINT, server.url)
        for name in ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "AWS_REGION", "AWS_DEFAULT_REGION"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("OVERTONE_HOME", str(tmp_path / "overtone"))
        monkeypatch.setattr(google.auth, "default", lambda **arguments: (AnonymousCredentials(), "lab"))
        yield server


@pytest.fixture
def config(tmp_path: Path) -> ClusterConfig:
    return written(tmp_path, CONFIG)


def written(folder: Path, text: str) -> ClusterConfig:
    path = folder / "cluster.yaml"
    path.write_text(text)
    return read_config(path)


def down(config: ClusterConfig) -> None:
    provider.stop(config, State.open(config), Progress(is_quiet=True))


class TestFindAndStop:
    def test_all_pages_and_zones_are_found_and_others_are_left(
        self, compute: Compute, config: ClusterConfig
    ) -> None:
        compute.add("instances", "ray-digits-head-0a1b2c3d-compute", HEAD)
        for at in range(5):
            compute.add("instances", f"ray-digits-worker-{at}-compute", OURS, zone="us-central1-b")
        compute.add("disks", "data", OURS)
        compute.add("instances", "stopped", OURS, status="TERMINATED")  # GCP's word for stopped
        compute.add("instances", "theirs", {"overtone-cluster": "digits-2"})
        compute.add("instances", "untagged", {})
        compute.add("disks", "untagged", {})
        found = provider.find(config)
        assert [one.kind for one in found].count("instance") == 7
        assert {one.id.split("/")[0] for one in found} == {"us-central1-a", "us-central1-b"}
        assert found[0].since == pytest.approx(1767351845.678)
        compute.requests.clear()
        down(config)
        assert provider.find(config) == []
        assert compute.names("instances") == ["theirs", "untagged"]
        assert compute.names("disks") == ["untagged"]
        deleted = [line for line in compute.requests if line.startswith("DELETE")]
        assert deleted[0].endswith("ray-digits-head-0a1b2c3d-compute")
        assert deleted[-1].endswith("disks/data")

    def test_clusters_of_the_project(
        self, compute: Compute, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert cloud_clusters([]) == ([], [])
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "my-lab")
        assert cloud_clusters([]) == ([], [])
        for at, zone in enumerate("abc"):
            compute.add("instances", f"machine-{at}", OURS, zone=f"us-central1-{zone}")
        compute.add("disks", "left", {"overtone-cluster": "earlier"})
        compute.add("instances", "theirs", {"purpose": "other"})
        assert cloud_clusters([]) == ([("gcp my-lab", "digits"), ("gcp my-lab", "earlier")], [])
        compute.statuses["GET aggregated"] = [403]
        found, (error,) = cloud_clusters([])
        assert found == []
        assert error.startswith("gcp my-lab: Google Cloud does not allow this")

    def test_clusters_of_the_projects_of_known_clusters(
        self, compute: Compute, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        State.open(config).update(config=CONFIG, source=str(config.source), phase="down", provider="gcp")
        compute.add("instances", "machine", OURS)
        compute.add("instances", "another", {"overtone-cluster": "unknown-here"})
        assert main(["clusters", "--all", "--json"]) == 0
        listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
        assert set(listed) == {"digits", "unknown-here"}
        assert (listed["unknown-here"]["provider"], listed["unknown-here"]["phase"]) == (
            "gcp my-lab",
            "in the cloud",
        )

    def test_find_only_reads(self, compute: Compute, config: ClusterConfig) -> None:
        provider.check(config)
        provider.find(config)
        assert {line.split()[0] for line in compute.requests} == {"GET"}

    def test_throttled_and_failing_requests_are_repeated(
        self, compute: Compute, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import googleapiclient.http

        monkeypatch.setattr(googleapiclient.http.time, "sleep", lambda seconds: None)
        compute.add("instances", "ray-digits-head-0a1b2c3d-compute", HEAD)
        compute.statuses.update({"GET aggregated/instances": [429, 503], "DELETE": [503]})
        down(config)
        assert compute.names("instances") == []

    def test_down_that_cannot_finish_names_what_is_left(
        self, compute: Compute, config: ClusterConfig
    ) -> None:
        compute.add("instances", "ray-digits-head-0a1b2c3d-compute", HEAD)
        compute.statuses["DELETE"] = [403]
        with pytest.raises(CloudError, match="us-central1-a/ray-digits-head-0a1b2c3d-compute"):
            down(config)

    def test_a_failed_deletion_is_reported(self, compute: Compute, config: ClusterConfig) -> None:
        compute.add("disks", "data", OURS)
        compute.failures["delete"] = ["RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"]
        with pytest.raises(CloudError, match="RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"):
            down(config)
        down(config)
        assert compute.names("disks") == []

    def test_two_downs_at_once_both_succeed(self, compute: Compute, config: ClusterConfig) -> None:
        for at in range(4):
            compute.add("instances", f"ray-digits-worker-{at}-compute", OURS)
        errors: list[BaseException] = []

        def one() -> None:
            try:
                down(config)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=one) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert compute.names("instances") == []

    @pytest.mark.parametrize("error", [DefaultCredentialsError("none"), RefreshError("expired")])
    def test_missing_or_expired_credentials(
        self, compute: Compute, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch, error: Exception
    ) -> None:
        def fail(**arguments: Any) -> None:
            raise error

        monkeypatch.setattr(google.auth, "default", fail)
        with pytest.raises(CloudError, match="gcloud auth application-default login"):
            provider.find(config)

    def test_reach(self, compute: Compute, config: ClusterConfig) -> None:
        state = State.open(config)
        with pytest.raises(CloudError, match="has no head"):
            provider.reach(config, state)
        compute.add("instances", "ray-digits-head-0a1b2c3d-compute", HEAD)
        assert provider.reach(config, state).name == "ubuntu@192.0.2.1"

    def test_head_ends_the_cluster_workers_first(self, compute: Compute, config: ClusterConfig) -> None:
        compute.add("instances", "ray-digits-head-0a1b2c3d-compute", HEAD)
        compute.add("instances", "ray-digits-worker-0a1b2c3d-compute", OURS)
        end_from_head(project="my-lab", name="digits")
        deleted = [line.rpartition("/")[2] for line in compute.requests if line.startswith("DELETE")]
        assert deleted == ["ray-digits-worker-0a1b2c3d-compute", "ray-digits-head-0a1b2c3d-compute"]

    def test_head_ends_itself_also_if_a_worker_is_refused(
        self, compute: Compute, config: ClusterConfig
    ) -> None:
        compute.add("instances", "ray-digits-head-0a1b2c3d-compute", HEAD)
        compute.add("instances", "ray-digits-worker-0a1b2c3d-compute", OURS)
        compute.statuses["DELETE"] = [403]
        with pytest.raises(CloudError, match="worker-0a1b2c3d-compute: "):
            end_from_head(project="my-lab", name="digits")
        assert compute.names("instances") == ["ray-digits-worker-0a1b2c3d-compute"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.usefixtures("close_what_ray_left_open")
class TestRaysProvider:
    """Ray's own node provider for GCP, with the fallback to machines on demand."""

    @pytest.fixture
    def ray(
        self, compute: Compute, config: ClusterConfig, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[dict[str, Any]]:
        from ray.autoscaler._private.gcp import config as ray_config
        from ray.autoscaler._private.gcp import node_provider as ray_provider

        with api.opened() as client:
            for module in (ray_config, ray_provider):  # Ray's own clients always ask Google itself
                monkeypatch.setattr(
                    module, "construct_clients_from_provider_config", lambda _: (None, None, client, None)
                )
            yield add_keys(ray_yaml(config, ray_version="2.60.0", token_file="/tmp/token"), config)

    def launch(self, ray: dict[str, Any], node_type: str, count: int) -> Any:
        from ray.autoscaler._private.providers import _get_node_provider

        nodes = _get_node_provider(ray["provider"], "digits", use_cache=False)
        body = ray["available_node_types"][node_type]["node_config"]
        kind = "head" if node_type == "head" else "worker"
        tags = {"ray-node-name": f"ray-digits-{kind}", "ray-node-type": kind, "ray-user-node-type": node_type}
        return nodes.create_node(body, tags, count)

    def test_bootstrap_leaves_projects_alone_if_there_is_a_service_account(
        self, ray: dict[str, Any], compute: Compute, tmp_path: Path
    ) -> None:
        from overtone.cluster.gcp.node_provider import NodeProvider

        account = "ray@my-lab.iam.gserviceaccount.com"
        ray["available_node_types"]["head"]["node_config"]["serviceAccounts"] = [{"email": account}]
        done = NodeProvider.bootstrap_config(ray)
        network = done["available_node_types"]["worker"]["node_config"]["networkInterfaces"][0]
        assert network["subnetwork"] == "projects/my-lab/regions/us-central1/subnetworks/default"
        assert compute.requests == ["GET regions/us-central1/subnetworks"]

    def test_workers_are_spot_and_labelled(
        self, ray: dict[str, Any], compute: Compute, config: ClusterConfig
    ) -> None:
        self.launch(ray, "head", 1)
        self.launch(ray, "worker", 2)
        assert sorted((one.node_type, one.spot) for one in provider.find(config)) == [
            ("e2-standard-2", False),
            ("n2-standard-8", True),
            ("n2-standard-8", True),
        ]

    def test_no_spot_machines_lead_to_machines_on_demand(
        self, ray: dict[str, Any], compute: Compute, config: ClusterConfig
    ) -> None:
        compute.failures["insert"] = ["ZONE_RESOURCE_POOL_EXHAUSTED"]
        with pytest.raises(Exception, match="ZONE_RESOURCE_POOL_EXHAUSTED"):
            self.launch(ray, "worker", 1)
        assert provider.find(config) == []
        ray["provider"][SPOT_WAIT_KEY] = 0  # as if ten minutes had passed
        compute.failures["insert"] = ["", "ZONE_RESOURCE_POOL_EXHAUSTED"]
        self.launch(ray, "worker", 2)
        assert sorted(one.spot for one in provider.find(config)) == [False, True]


class TestKeys:
    def form(self, config: ClusterConfig) -> dict[str, Any]:
        return add_keys(ray_yaml(config, ray_version="2.60.0", token_file="/tmp/token"), config)

    def test_ray_accepts_the_form(self, config: ClusterConfig) -> None:
        from ray.autoscaler._private.util import prepare_config, validate_config

        ray = self.form(config)
        validate_config(prepare_config(ray))
        assert add_keys(ray, config) == ray
        head, worker = (ray["available_node_types"][name]["node_config"] for name in ("head", "worker"))
        assert ray["provider"]["availability_zone"] == "us-central1-a"
        assert ray["provider"]["region"] == "us-central1"
        assert ray["available_node_types"]["worker"]["resources"] == {"CPU": 8}
        assert worker["scheduling"]["provisioningModel"] == "SPOT"
        assert "provisioningModel" not in head["scheduling"]
        # GCP itself deletes machines if the watchdog on the head cannot.
        assert head["scheduling"]["maxRunDuration"] == {"seconds": 2 * 3600 + 900}
        assert head["disks"][0]["autoDelete"] is True
        assert head["labels"] == head["disks"][0]["initializeParams"]["labels"] == OURS

    def test_key_is_for_the_machines_of_the_cluster_alone(
        self, config: ClusterConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OVERTONE_HOME", str(tmp_path / "overtone"))
        ray = with_access(self.form(config), State.open(config))
        items = ray["available_node_types"]["worker"]["node_config"]["metadata"]["items"]
        metadata = {item["key"]: item["value"] for item in items}
        assert metadata["ssh-keys"].startswith("ubuntu:ssh-ed25519 ")
        assert metadata["block-project-ssh-keys"] == "true"
        assert Path(ray["auth"]["ssh_private_key"]).stat().st_mode & 0o777 == 0o600

    @pytest.mark.parametrize(
        ("machine", "resources"),
        [
            ("e2-medium", {"CPU": 2}),
            ("n2-standard-8", {"CPU": 8}),
            ("c3-standard-4-lssd", {"CPU": 4}),
            ("n2-custom-6-8192", {"CPU": 6}),
            ("custom-4-8192-ext", {"CPU": 4}),
            ("g2-standard-12", {"CPU": 12, "GPU": 1}),
            ("g2-standard-96", {"CPU": 96, "GPU": 8}),
            ("a2-highgpu-2g", {"CPU": 24, "GPU": 2}),
            ("a2-megagpu-16g", {"CPU": 96, "GPU": 16}),
            ("a3-highgpu-8g", {"CPU": 208, "GPU": 8}),
            ("m6i.large", {}),
        ],
    )
    def test_resources_of_machine_types(self, machine: str, resources: dict[str, int]) -> None:
        assert resources_of(machine) == resources


class TestCheck:
    @pytest.mark.parametrize(
        ("before", "after", "message"),
        [
            (
                "us-central1-a",
                "us-central1",
                ":2: provider.zone='us-central1': must be a zone of Google Cloud",
            ),
            ("my-lab", "My Lab", ":2: provider.project='My Lab': must be the ID of a project"),
            ("n2-standard-8", "large", ":4: workers.type='large': must be a machine type of Google Cloud"),
            (
                "n2-standard-8",
                "g2-standard-4",
                ":4: workers.type='g2-standard-4': needs an image with NVIDIA's",
            ),
        ],
    )
    def test_broken_configs_name_their_line(
        self, tmp_path: Path, before: str, after: str, message: str
    ) -> None:
        config = written(tmp_path, CONFIG.replace(before, after))
        with pytest.raises(ConfigError) as caught:
            provider.check(config)
        assert f"cluster.yaml{message}" in str(caught.value)

    def test_credentials_in_a_config_are_refused(self, tmp_path: Path) -> None:
        text = CONFIG + "raw: {provider: {gcp_credentials: {type: credentials_token, credentials: hidden}}}\n"
        with pytest.raises(ConfigError, match="credentials do not belong in a config") as caught:
            provider.check(written(tmp_path, text))
        assert "hidden" not in str(caught.value)
