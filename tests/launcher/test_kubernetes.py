"""Clusters on Kubernetes against a fake API server: their life. Programs in pods are real processes."""

from __future__ import annotations

import gc
import http.server
import json
import os
import threading
import urllib.request

import pytest

from overtone.cluster.kubernetes.suspension import is_in_pod, suspend_cluster
from overtone.cluster.kubernetes.transport import KubernetesError
from overtone.cluster.providers import kubernetes as provider
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.state import State
from tests.launcher.kubernetes_lab import running_lab
from tests.launcher.ssh_hosts import LONG_S


@pytest.fixture(params=[pytest.param("kubectl", marks=pytest.mark.full), "client"])
def lab(request, tmp_path, monkeypatch):
    with running_lab(request.param, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def kubectl_lab(tmp_path, monkeypatch):
    with running_lab("kubectl", tmp_path, monkeypatch) as made:
        yield made


# the life of a cluster


@pytest.mark.parametrize("lab", ["kubectl", "client"], indirect=True)
def test_a_cluster_comes_up_and_goes(lab):
    config = lab.config()
    assert provider.find(config) == []
    lab.start(config)
    found = {(one.kind, one.id, one.state) for one in provider.find(config)}
    assert found == {
        ("RayCluster", "digits", "ready"), ("Pod", "digits-head", "running"), ("Pod", "digits-worker-0", "running"),
        ("Secret", "digits-token", "present"), ("Service", "digits-head-svc", "present"),
    }  # fmt: skip
    assert [one.node_type for one in provider.find(config) if one.kind == "Pod"] == [
        "cpu=2,memory=8Gi",
        "cpu=4,memory=16Gi",
    ]
    assert lab.down(config) == []
    assert lab.server.store.objects == {}


def test_up_again_changes_nothing_and_a_new_config_changes_its_part(lab):
    lab.start(lab.config())
    n_changes = len(lab.changes())
    lab.start(lab.config())
    assert len(lab.changes()) == n_changes
    cluster = lab.server.store.get("rayclusters", "lab", "digits")
    cluster["spec"]["workerGroupSpecs"][0]["replicas"] = 2  # the autoscaler's
    lab.kuberay.settle()
    lab.start(lab.config("workers: {min: 1, max: 5}\n"))
    (group,) = lab.server.store.get("rayclusters", "lab", "digits")["spec"]["workerGroupSpecs"]
    assert (group["maxReplicas"], group["replicas"]) == (5, 2)
    assert lab.names("pods") == ["digits-head", "digits-worker-0", "digits-worker-1"]


@pytest.mark.parametrize("lab", ["kubectl", "client"], indirect=True)
def test_a_job_takes_its_command_and_ends_with_it(lab):
    config = lab.config("limits: {cluster_idle: 2m, hours: 1}\nworkers: {max: 2}\n")
    head = lab.start(config, for_run=True)
    assert lab.job()["jobDeploymentStatus"] == "Running"  # and waits for its command
    head.begin("cat > result; exit 3")
    lab.pods._jobs["digits-abcde-head"].wait(LONG_S)
    lab.kuberay.settle()
    assert lab.job()["jobDeploymentStatus"] == "Failed"  # status 3
    assert head.run("ls result").status == 0  # results can be brought back
    lab.kuberay.advance(119)
    assert len(lab.names("pods")) == 1
    lab.kuberay.advance(2)
    assert lab.names("pods") == lab.names("rayclusters") == []  # nobody's laptop is open
    assert {one.kind for one in provider.find(config)} == {"RayJob", "Secret"}
    head = lab.start(config, for_run=True)  # again: another job of the same name
    assert lab.job()["jobDeploymentStatus"] == "Running"
    head.begin("exit 0")
    lab.pods._jobs["digits-abcde-head"].wait(LONG_S)
    lab.kuberay.settle()
    assert lab.job()["jobStatus"] == "SUCCEEDED"
    assert lab.down(config) == []


def test_a_job_is_ended_at_its_deadline(lab):
    config = lab.config("limits: {cluster_idle: 1s, hours: 1}\nworkers: {max: 2}\n")
    lab.start(config, for_run=True)
    lab.kuberay.advance(3599)
    assert lab.names("pods") == ["digits-abcde-head"]
    lab.kuberay.advance(2)
    lab.kuberay.advance(2)
    assert lab.names("pods") == []
    assert lab.job()["reason"] == "DeadlineExceeded"


def test_a_second_command_does_not_take_the_first_one_s_place(lab):
    head = lab.start(lab.config("workers: {max: 1}\n"), for_run=True)
    head.begin("echo one >> order; sleep 600")
    head.begin("echo two >> order")
    home = lab.pods.home("digits-abcde-head")
    while not (home / "order").exists() or (home / "order").read_text().count("\n") < 2:
        assert lab.pods.job_status("digits-abcde-head") is None
    assert (home / ".overtone/cluster/job_command.sh").read_text() == "echo one >> order; sleep 600\n"
    assert lab.down(lab.config()) == []


def test_a_submit_takes_a_cluster_that_is_up_and_up_takes_a_job_s(lab):
    lab.start(lab.config())
    lab.start(lab.config(), for_run=True)
    assert lab.names("rayjobs") == []
    assert lab.down(lab.config()) == []
    lab.start(lab.config(), for_run=True)
    lab.start(lab.config())
    assert lab.names("rayclusters") == ["digits-abcde"]
    assert lab.down(lab.config()) == []


def test_the_setup_has_the_files_on_each_node(lab, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "requirements.txt").write_text("some-package\n")
    config = lab.config(
        f"files: {tmp_path}/work\nsetup: ['X=requirements.txt; cp $X ~/seen; echo $$ $(echo HOME) > ~/shell']\nworkers: {{min: 1, max: 1}}\n"
    )
    provider.check(config)
    lab.start(config)
    for pod in ("digits-head", "digits-worker-0"):
        assert (lab.pods.home(pod) / "seen").read_text() == "some-package\n"
        number, word = (lab.pods.home(pod) / "shell").read_text().split()  # the shell's own dollars
        assert number.isdigit()
        assert word == "HOME"
    assert lab.names("secrets") == ["digits-files", "digits-token"]
    assert lab.down(config) == []


def test_the_head_ends_its_cluster_without_us(kubectl_lab, monkeypatch, tmp_path):
    lab, config = kubectl_lab, kubectl_lab.config()
    lab.start(config)
    assert not is_in_pod()
    host, _, port = lab.server.url.removeprefix("http://").partition(":")
    for key, value in {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "OVERTONE_RAY_CLUSTER": "digits",
    }.items():
        monkeypatch.setenv(key, value)
    account = tmp_path / "account"
    account.mkdir()
    (account / "token").write_text("of the service account")
    (account / "namespace").write_text("lab")
    assert is_in_pod()
    suspend_cluster("digits", account)
    lab.kuberay.settle()
    assert lab.names("pods") == []
    assert lab.down(config) == []
    with pytest.raises(KubernetesError, match="RayCluster digits cannot be suspended: 404"):
        suspend_cluster("digits", account)


# the head


def test_commands_on_the_head(lab):
    head = lab.start(lab.config("workers: {max: 1}\n"))
    assert head.run("echo out; echo err >&2; exit 3") == (3, b"out\n", b"err\n")
    data = os.urandom(300_000)
    assert head.run("cat", input=data).output == data
    assert head.run("cat", input=b"").output == b""
    assert head.run("sleep 60", timeout_s=1).status == 124
    assert head.run("echo $RAY_AUTH_MODE ${#RAY_AUTH_TOKEN}").text == "token 64"
    parts = []
    assert head.stream("echo one; echo two >&2; exit 4", parts.append) == 4
    assert b"".join(parts) == b"one\ntwo\n"
    with pytest.raises(RemoteError, match="ended with 5:\n  last words"):
        head.check("echo last words; exit 5")
    lab.down(lab.config())
    with pytest.raises(UnreachableError, match="has no head in namespace lab: is it up"):
        head.run("true")


def test_files_of_the_head(lab, tmp_path):
    head = lab.start(lab.config("workers: {max: 1}\n"))
    source, back = tmp_path / "work dir", tmp_path / "back"
    (source / "d" / "e").mkdir(parents=True)
    (source / "d" / "e" / "data").write_bytes(os.urandom(200_000))
    (source / "a'b c").write_text("1")
    (source / "x.pyc").write_text("")
    head.put(source, "~/work", ("*.pyc",))
    assert sorted(one.name for one in (lab.pods.home("digits-head") / "work").iterdir()) == ["a'b c", "d"]
    head.get("~/work/", back)
    assert (back / "d/e/data").read_bytes() == (source / "d/e/data").read_bytes()
    assert (back / "a'b c").read_text() == "1"
    marked = back / "d/e/data"
    inode = marked.stat().st_ino
    head.run("echo 2 > work/new; echo no > work/log.tmp")
    head.get("~/work/", back, ("*.tmp",))
    assert (back / "new").read_text() == "2\n"
    assert not (back / "log.tmp").exists()
    assert marked.stat().st_ino == inode  # it was not fetched again
    head.put(source / "a'b c", "~/other/name")
    head.get("~/other/name", tmp_path / "one")
    assert (tmp_path / "one").read_text() == "1"
    head.get("~/nothing/", tmp_path / "empty")
    with pytest.raises(RemoteError, match="no such file"):
        head.get("~/work/missing", tmp_path / "m")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_port_of_the_head(lab, request):
    if "kubectl" in request.node.name:
        pytest.skip("the fake server does not speak SPDY, which kubectl tunnels")
    head = lab.start(lab.config("workers: {max: 1}\n"))
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as there:
        threading.Thread(target=there.handle_request, daemon=True).start()
        with head.forward(there.server_port) as port:
            answer = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=LONG_S).read()
    assert b"Directory listing" in answer
    for thread in [one for one in threading.enumerate() if "_relay" in one.name]:
        thread.join(LONG_S)
    gc.collect()  # the package `kubernetes` leaves its WebSocket of a forwarded port to the garbage collector


def test_the_token_is_in_no_answer_process_or_line_but_its_secret(lab):
    config = lab.config()
    head = lab.start(config, for_run=True)
    head.begin("exit 0")
    token = State.open(config).token()
    secret = lab.server.store.get("secrets", "lab", "digits-token")
    assert secret["metadata"]["ownerReferences"][0]["kind"] == "RayJob"
    for key, one in lab.server.store.objects.items():
        assert key[0] == "secrets" or token not in json.dumps(one)
    assert token not in lab.said.getvalue()
    assert not any(token in one for one in lab.server.requests)
    for log in (lab.folder / "pods").glob("*.log"):
        assert token not in log.read_text()
    assert lab.down(config) == []
