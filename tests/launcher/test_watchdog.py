"""A cluster ends by itself: idle, at its price, without its head; on hosts with sshd, and nobody connected."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from overtone.cluster import node_guard, watchdog
from overtone.cluster.config import ClusterConfig, Limits, Provider
from overtone.cluster.head_python import python_command
from tests.launcher.ssh_hosts import HOME, LONG_S, Host, Network, network, until

FOLDER = ".overtone/cluster"
SETTINGS = {"RAY_AUTH_MODE": "disabled", "RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
START = "export OVERTONE_CLUSTER=three; ray start --node-ip-address={} --object-store-memory=80000000 --disable-usage-stats {} >/dev/null"

EXPERIMENT = """
import time
from overtone import tune

def wait(config):
    tune.report(loss=1)
    time.sleep(1000)

tune.run(wait, num_samples=1, metric="loss", mode="min", verbose=0, storage_path="/tmp/by_hand", engine="local")
"""

RUN = """
import os, time
from overtone import tune
from overtone.cluster.run_folder import RunFolder, new_id

class Counts(tune.Trainable):
    def setup(self, config):
        self.n = 0
    def step(self):
        time.sleep(0.1)
        self.n += 1
        return {"loss": self.n}
    def save_checkpoint(self, folder):
        open(folder + "/n", "w").write(str(self.n))
    def load_checkpoint(self, folder):
        self.n = int(open(folder + "/n").read())

run = RunFolder(new_id())
run.create({"command": ["python"], "cluster": "three"})
run.note_process(os.getpid())
tune.run(Counts, num_samples=1, metric="loss", mode="min", verbose=0, storage_path="/tmp/run", name="exp",
         checkpoint_freq=0, engine="local")
"""


@pytest.fixture
def hosts() -> Iterator[list[Host]]:
    with network(2) as made:
        yield made.hosts


@pytest.fixture(scope="module")
def one_host() -> Iterator[Network]:
    with network(1) as made:
        yield made


def config(**limits: Any) -> ClusterConfig:
    return ClusterConfig("three", Provider("local"), limits=Limits(**{"hours": None, **limits}))


def shell(host: Host, command: str) -> str:
    """A command as the launcher runs it, in a login shell."""
    return host.check("bash", "-lc", command, env=SETTINGS)


def start_head(host: Host, given: ClusterConfig, **options: Any) -> None:
    head = f"--head --port=6379 --num-cpus=0 --include-dashboard=false {options.pop('more', '')}"
    shell(host, START.format(host.address, head))
    shell(host, watchdog.start_command(given, **options))


def facts(host: Host, name: str) -> dict[str, Any]:
    """What a file of the cluster's folder says; {} if there is none."""
    try:
        found: dict[str, Any] = json.loads(host.home(f"{FOLDER}/{name}").read_text())
    except FileNotFoundError:
        return {}
    return found


def watchdogs(host: Host) -> list[int]:
    processes = host.processes().items()
    return [
        pid
        for pid, command in processes
        if command.endswith("-m overtone.cluster.watchdog") and "/bin/sh" not in command
    ]


def log(host: Host) -> str:
    return host.home(f"{FOLDER}/watchdog.log").read_text()


def has_ended(host: Host) -> bool:
    return facts(host, "ended.json").get("is_done") is True and host.processes() == {}


@pytest.mark.full
def test_an_idle_cluster_ends_on_all_hosts(hosts: list[Host]) -> None:
    head, worker = hosts
    head.path("/tmp/by_hand.py").write_text(EXPERIMENT)
    by_hand = head.begin("python", "/tmp/by_hand.py")
    until(lambda: list(head.path("/tmp").glob("by_hand/*/journal.jsonl")), "the experiment")
    given = config(cluster_idle_s=2.0)
    start_head(head, given, began=1.0)
    shell(worker, START.format(worker.address, f"--address={head.address}:6379 --num-cpus=1"))
    shell(worker, node_guard.start_command(given, gone_s=4.0))
    until(lambda: facts(head, "age.json").get("busy_at", 0) > 6, "three times its idle time, and busy")
    shell(head, watchdog.start_command(given, began=1.0))
    (first,) = watchdogs(head)
    before = facts(head, "age.json")
    head.check("pkill", "-9", "-f", "^/bin/sh -c until")  # as at a reboot
    head.check("kill", "-9", str(first))
    shell(head, f"export OVERTONE_CLUSTER=three; {python_command(f'-m {watchdog.MODULE} --resume')}")
    (first,) = until(lambda: watchdogs(head), "the watchdog after a reboot")
    head.check("kill", "-9", str(first))
    until(lambda: watchdogs(head) not in ([], [first]), "another watchdog")
    until(lambda: facts(head, "age.json")["age_s"] > before["age_s"], "its first look")
    assert facts(head, "ended.json") == {}
    assert "raylet" in " ".join(worker.processes().values())
    by_hand.kill()
    head.check("pkill", "-9", "-f", "by_hand.py")  # its server of processes ends with it
    by_hand.communicate()
    until(lambda: has_ended(head), "the head has ended")
    until(lambda: worker.processes() == {}, "the worker has ended")
    ended = facts(head, "ended.json")
    assert (ended["reason"], ended["began"]) == ("idle for 2s", 1.0)
    assert ended["age_s"] > before["age_s"]


@pytest.mark.full
def test_a_worker_ends_without_its_head(hosts: list[Host]) -> None:
    head, worker = hosts
    given = config()
    start_head(head, given)
    shell(worker, START.format(worker.address, f"--address={head.address}:6379 --num-cpus=1"))
    shell(worker, node_guard.start_command(given, gone_s=2.0))
    shell(worker, node_guard.start_command(given, gone_s=2.0))
    assert "raylet" in " ".join(worker.processes().values())
    head.kill()
    until(lambda: worker.processes() == {}, "the worker has ended")


@pytest.mark.full
def test_at_its_price_a_run_saves_first(one_host: Network) -> None:
    (head,) = one_host.hosts
    head.path("/tmp/run.py").write_text(RUN)
    run = head.begin("setsid", "python", "/tmp/run.py", env={"OVERTONE_CLUSTER": "three"})
    until(lambda: (head.path("/tmp/run/exp/journal.jsonl")).exists(), "the experiment")
    given = config(price=10.0)
    start_head(head, given, prices={"head": 3600.0}, began=2.0)  # a dollar a second
    until(lambda: has_ended(head), "the head has ended")
    run.communicate(timeout=LONG_S)
    ended = facts(head, "ended.json")
    assert ended["reason"] == "its limit of $10"
    assert 8.9 <= ended["cost"] <= 12
    assert "interrupted, to save" in log(head)
    shown = json.loads(head.check("python", "-m", "overtone", "show", "/tmp/run/exp", "--json"))
    assert shown["is_resumable"]
    assert shown["state"] == "interrupted"
    assert list(head.path("/tmp/run/exp").glob("*/checkpoint_*"))


@pytest.mark.full
def test_a_full_disk_keeps_no_cluster_alive(one_host: Network) -> None:
    (head,) = one_host.hosts
    folder = HOME / FOLDER
    head.check("mkdir", "-p", str(folder))
    head.check("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder))
    start_head(head, config(cluster_idle_s=4.0), began=3.0)
    head.run("dd", "if=/dev/zero", f"of={folder}/full", "bs=1k")
    until(lambda: head.processes() == {}, "the head has ended")


def logins(head: Host, silent_s: float = 3600.0) -> list[str]:
    code = f"import json; from overtone.cluster.logins import logins; print(json.dumps(logins({silent_s})))"
    found: list[str] = json.loads(head.check("python", "-c", code))
    return found


def is_shell(found: list[str]) -> bool:
    """One shell in a terminal: its number is that of the machine, where others may be open."""
    return len(found) == 1 and re.fullmatch(r"bash on pts/\d+", found[0]) is not None


@pytest.mark.full
def test_who_is_logged_in(one_host: Network) -> None:
    (head,), client = one_host.hosts, one_host.client
    ssh = [
        "ssh",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "LogLevel=ERROR",
    ]
    there = f"root@{head.address}"
    began = [
        client.begin(*ssh, "-N", "-L", "7001:127.0.0.1:7001", there),
        client.begin(*ssh, "-M", "-S", "/tmp/control", "-N", there),
    ]
    until(lambda: client.path("/tmp/control").exists(), "the control connection")
    assert logins(head) == []
    command = client.begin(*ssh, "-S", "/tmp/control", there, "sleep 1000")
    until(lambda: logins(head) == ["sleep"], "a command")
    client.check("pkill", "-f", "sleep 1000")
    head.check("pkill", "-x", "sleep")
    until(lambda: logins(head) == [], "no command")
    shell = client.begin(*ssh, "-tt", there, stdin=subprocess.PIPE)
    until(lambda: is_shell(logins(head)), "a shell")
    until(lambda: logins(head, silent_s=0.0) == [], "a silent shell")
    assert shell.stdin is not None
    shell.stdin.write("sleep 1000\n")
    shell.stdin.flush()
    until(lambda: is_shell(logins(head, silent_s=0.0)), "a command in a terminal")
    client.check("pkill", "-x", "ssh")
    for process in [*began, command, shell]:
        process.communicate(timeout=LONG_S)
    until(lambda: logins(head) == [], "nobody")
