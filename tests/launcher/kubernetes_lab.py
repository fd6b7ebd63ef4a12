"""A fake Kubernetes with KubeRay, for the launcher's tests."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from overtone.cluster.config_reading import parse_config
from overtone.cluster.kubernetes import connection, starting
from overtone.cluster.progress import Progress
from overtone.cluster.providers import kubernetes as provider
from overtone.cluster.state import State
from tests.launcher.fake_api_server import FakeApiServer
from tests.launcher.fake_kuberay import FakeKubeRay
from tests.launcher.fake_pods import FakePods

IMAGE = "rayproject/ray:2.60.0-py311"


class Lab:
    """A server, an operator, and a config that leads to them."""

    def __init__(self, folder: Path, server: FakeApiServer) -> None:
        self.folder, self.server = folder, server
        (folder / "pods").mkdir()
        self.pods = server.pods = FakePods(folder / "pods")
        self.kuberay = FakeKubeRay(server, self.pods)
        self.kubeconfig = server.write_kubeconfig(folder / "kubeconfig", "lab")
        self.said = io.StringIO()
        self.progress = Progress(stream=self.said)

    def config(self, more: str = "workers: {min: 1, max: 2}\n", settings: str = "", name: str = "digits"):
        place = f"kubeconfig: {self.kubeconfig}, image: '{IMAGE}'{settings}"
        text = f"name: {name}\nprovider: {{type: kubernetes, {place}}}\n{more}"
        return parse_config(text, self.folder / "c.yaml")

    def start(self, config, for_run: bool = False):
        provider.start(config, State.open(config), self.progress, for_run)
        return provider.reach(config, State.open(config))

    def down(self, config) -> list:
        """Take the cluster down, and return what is left."""
        provider.stop(config, State.open(config), self.progress)
        self.kuberay.settle()
        return provider.find(config)

    def names(self, plural: str) -> list[str]:
        return sorted(one["metadata"]["name"] for one in self.server.store.all(plural))

    def job(self) -> dict:
        return self.server.store.get("rayjobs", "lab", "digits")["status"]

    def changes(self) -> list[str]:
        return [one for one in self.server.requests if not one.startswith("GET")]


@contextmanager
def running_lab(way: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """Run a lab whose API the launcher reaches by "kubectl" or by the package ("client"), without pauses."""
    if way == "client":
        pytest.importorskip("kubernetes")
        monkeypatch.setattr(connection.shutil, "which", lambda name: None)
    elif shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    monkeypatch.setenv("OVERTONE_HOME", str(folder / "home"))
    monkeypatch.setattr(starting, "_POLL_S", 0.0)
    monkeypatch.setattr(provider, "_STOP_ROUNDS", 3)
    no_pause = (lambda seconds: None,)
    monkeypatch.setattr("overtone.cluster.kubernetes.objects.Objects.__init__.__defaults__", no_pause)
    with FakeApiServer() as server:
        made = Lab(folder, server)
        yield made
        made.pods.close()
