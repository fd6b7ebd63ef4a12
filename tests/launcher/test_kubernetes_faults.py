"""Clusters on Kubernetes against a fake API server: what goes wrong, and that nothing is left of it."""

from __future__ import annotations

import json
import signal
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from overtone.cluster.kubernetes import starting
from overtone.cluster.kubernetes.client import Client
from overtone.cluster.kubernetes.transport import KubernetesError
from overtone.cluster.providers import kubernetes as provider
from overtone.cluster.state import State
from tests.launcher.fake_api_server import Fault
from tests.launcher.kubernetes_lab import IMAGE, running_lab
from tests.launcher.ssh_hosts import LONG_S


@pytest.fixture(params=[pytest.param("kubectl", marks=pytest.mark.full), "client"])
def lab(request, tmp_path, monkeypatch):
    with running_lab(request.param, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def kubectl_lab(tmp_path, monkeypatch):
    with running_lab("kubectl", tmp_path, monkeypatch) as made:
        yield made


FAULTS = [(500, "GET"), (503, "POST"), (429, "POST"), (500, "DELETE"), (429, "DELETE"), (503, "GET"), (429, "GET"),
          *[(what, method) for what in ("disconnect", "lose answer") for method in ("GET", "POST", "DELETE")]]  # fmt: skip
BY_KUBECTL = [(429, "POST"), ("disconnect", "GET"), ("lose answer", "POST"), ("lose answer", "DELETE")]
"""kubectl is slow to start."""


@pytest.mark.parametrize(
    ("lab", "what", "method"),
    [*(("client", *one) for one in FAULTS),
     *(pytest.param("kubectl", *one, marks=pytest.mark.full) for one in BY_KUBECTL)],
    indirect=["lab"],
)  # fmt: skip
def test_faults_that_pass(lab, method, what, monkeypatch):
    monkeypatch.setattr("overtone.cluster.kubernetes.objects.time.sleep", lambda seconds: None)
    lab.server.faults = [Fault(method, "ray|secret|pod", what, times=3)]
    lab.start(lab.config())
    if method == "DELETE":
        lab.server.faults = [Fault(method, "ray|secret|pod", what, times=3)]
    assert lab.names("rayclusters") == ["digits"]
    assert lab.down(lab.config()) == []
    assert lab.server.store.objects == {}


class OneAnswerEach(socketserver.StreamRequestHandler):
    """A server that closes a connection when a second request comes on it, without having said so before."""

    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        self.rfile.read(1)


@pytest.fixture
def one_answer_each() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), OneAnswerEach) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield "http://{}:{}".format(*server.server_address)
        server.shutdown()


def test_each_request_of_the_package_has_a_connection_of_its_own(one_answer_each, tmp_path):
    pytest.importorskip("kubernetes")
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "one",
        "clusters": [{"name": "one", "cluster": {"server": one_answer_each}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "me"}}],
    }))  # fmt: skip
    client = Client(str(path), None)
    assert [client.request("GET", "/api") for _ in range(3)] == [b"{}"] * 3


def test_a_change_in_between_is_read_again(lab):
    lab.start(lab.config())

    def change() -> None:
        with lab.server.store.lock:
            lab.server.store.touch(lab.server.store.get("rayclusters", "lab", "digits"))

    lab.server.faults = [Fault("PUT", "rayclusters", change, times=2)]
    lab.start(lab.config("workers: {min: 1, max: 7}\n"))
    (group,) = lab.server.store.get("rayclusters", "lab", "digits")["spec"]["workerGroupSpecs"]
    assert group["maxReplicas"] == 7
    assert sum(one.startswith("PUT") and "rayclusters" in one for one in lab.changes()) == 3


def test_an_image_that_is_missing_is_told_with_its_events(lab):
    lab.pods.missing_images.add(IMAGE)
    with pytest.raises(KubernetesError) as error:
        lab.start(lab.config())
    assert (
        f'container ray-head of pod digits-head: ImagePullBackOff: Back-off pulling image "{IMAGE}"'
        in str(error.value)
    )
    assert "Last events:\n  Failed: image not found" in str(error.value)
    assert lab.down(lab.config()) == []


def test_a_failed_setup_shows_its_last_lines(lab):
    config = lab.config("setup: ['seq 100', 'ls /nowhere']\nworkers: {max: 1}\n")
    with pytest.raises(KubernetesError) as error:
        lab.start(config)
    text = str(error.value)
    assert "container ray-head of pod digits-head ended (Error, status 64):" in text
    assert text.splitlines()[-1] == "  the set up failed"
    assert "No such file or directory" in text
    assert "\n  99\n" in text
    assert "\n  70\n" not in text
    assert lab.down(config) == []


def test_a_pod_without_a_node_is_waited_for_and_then_told(lab, monkeypatch):
    lab.pods.unschedulable = True
    monkeypatch.setattr(starting, "START_S", -1.0)
    with pytest.raises(
        KubernetesError, match=r"pod digits-head waits \(Unschedulable: 0/3 nodes are available\)"
    ):
        lab.start(lab.config())
    assert lab.down(lab.config()) == []


def test_without_an_operator_the_error_says_so(lab, monkeypatch):
    lab.kuberay.is_running = False
    monkeypatch.setattr(starting, "START_S", -1.0)
    with pytest.raises(KubernetesError, match="KubeRay made 0 pods. Does its operator run"):
        lab.start(lab.config())
    assert lab.down(lab.config()) == []


def test_without_kuberay_the_error_says_how_to_install_it(lab):
    lab.server.has_kuberay = False
    with pytest.raises(KubernetesError, match="KubeRay is not installed there: helm repo add kuberay"):
        provider.find(lab.config())


def test_a_missing_namespace_permission_or_context(lab):
    with pytest.raises(
        KubernetesError, match=r'namespaces "nowhere" not found. Make it \(kubectl create namespace nowhere\)'
    ):
        lab.start(lab.config(settings=", namespace: nowhere"))
    with pytest.raises(KubernetesError, match=r"(?s)context.*other|other.*context"):
        provider.find(lab.config(settings=", context: other"))
    lab.server.forbidden = ["POST .*secrets"]
    with pytest.raises(
        KubernetesError, match='User "me" cannot POST it in "lab".*Ask for a role in namespace lab that may'
    ):
        lab.start(lab.config())


def test_a_cluster_of_somebody_else_is_left_alone(lab):
    other = {"metadata": {"name": "digits", "labels": {}}, "spec": {"headGroupSpec": {}}}
    lab.server.store.add("rayclusters", "lab", other)
    lab.kuberay.is_running = False
    with pytest.raises(KubernetesError, match="RayCluster digits in namespace lab is not Overtone's"):
        lab.start(lab.config())
    assert lab.down(lab.config()) == []
    assert lab.names("rayclusters") == ["digits"]


@pytest.mark.full
def test_a_cluster_made_anew_in_between_is_left_alone(kubectl_lab):
    lab, config = kubectl_lab, kubectl_lab.config()
    lab.start(config)
    lab.kuberay.is_running = False

    def replace() -> None:
        with lab.server.store.lock:
            old = lab.server.store.objects.pop(("rayclusters", "lab", "digits"))
            lab.server.store.add("rayclusters", "lab", json.loads(json.dumps(old)))

    lab.server.faults = [Fault("DELETE", "rayclusters/digits", replace)]
    provider.stop(config, State.open(config), lab.progress)
    assert lab.names("rayclusters") == ["digits"]  # by its uid it is another one


def test_an_object_that_does_not_go_is_found_as_terminating(lab):
    lab.start(lab.config())
    lab.server.store.get("rayclusters", "lab", "digits")["metadata"]["finalizers"] = ["somebody/else"]
    left = lab.down(lab.config())
    assert ("RayCluster", "digits", "terminating") in {(one.kind, one.id, one.state) for one in left}


@pytest.mark.full
def test_a_kubectl_that_hangs_is_ended(kubectl_lab, tmp_path, monkeypatch):
    hanging = tmp_path / "kubectl"
    hanging.write_text("#!/bin/sh\nexec sleep 600\n")
    hanging.chmod(0o755)
    monkeypatch.setattr("overtone.cluster.kubernetes.kubectl.REQUEST_S", -4.0)
    monkeypatch.setattr("overtone.cluster.kubernetes.objects.time.sleep", lambda seconds: None)
    from overtone.cluster.kubernetes.kubectl import Kubectl

    with pytest.raises(KubernetesError, match="kubectl get: no answer within 1 s"):
        Kubectl(str(hanging), None, None).request("GET", "/api")


STEPS = [
    ("GET", "rayjobs"),
    ("GET", "secrets"),
    ("POST", "secrets"),
    ("POST", "rayclusters"),
    ("PUT", "secrets"),
    ("GET", "pods"),
]


@pytest.mark.parametrize(
    ("lab", "how", "method", "path"),
    [*(("client", "SIGKILL", *step) for step in STEPS[2:4]),
     *(pytest.param("client", "SIGKILL", *step, marks=pytest.mark.full) for step in [*STEPS[:2], *STEPS[4:]]),
     *(pytest.param("client", "SIGINT", *step, marks=pytest.mark.full) for step in STEPS),
     *(pytest.param("kubectl", "SIGINT", *step, marks=pytest.mark.full) for step in STEPS[2:4]),
     pytest.param("kubectl", "SIGKILL", *STEPS[4], marks=pytest.mark.full)],
    indirect=["lab"],
)  # fmt: skip
def test_nothing_is_left_of_a_start_that_is_interrupted_at_any_step(lab, request, method, path, how):
    """The launcher's process gets the signal while the server carries the request out."""
    way = "client" if "client" in request.node.name else "kubectl"
    config = lab.config()
    config_path = lab.folder / "c.yaml"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, way, str(config_path), config.provider.settings["kubeconfig"]],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lab.server.faults = [Fault(method, path, lambda: process.send_signal(getattr(signal, how)))]
    _, said = process.communicate(timeout=LONG_S)
    assert lab.server.faults[0].times == 0, said
    assert process.returncode == (-9 if how == "SIGKILL" else 130), said
    lab.kuberay.settle()
    assert lab.down(config) == []
    assert lab.server.store.objects == {}


PROGRAM = """
import shutil, sys
way, path, kubeconfig = sys.argv[1:]
if way == "client":
    shutil.which = lambda name: None
from pathlib import Path
from overtone.cluster.config_reading import parse_config
from overtone.cluster.progress import Progress
from overtone.cluster.providers import kubernetes
from overtone.cluster.state import State
config = parse_config("name: digits\\nprovider: {type: kubernetes, kubeconfig: %s, image: 'rayproject/ray:2.60.0-py311'}\\n"
                      "workers: {min: 1, max: 2}\\n" % kubeconfig, Path(path))
try:
    kubernetes.start(config, State.open(config), Progress(), False)
except KeyboardInterrupt:
    sys.exit(130)
"""
