"""`overtone up` and `down` on three hosts: what starts, what it takes, and that nothing is left."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from overtone.cluster.local.node_record import STATUS
from tests.launcher.ssh_hosts import HOME, LONG_S, Network, until

SCRIPT = """
import socket, sys, time
from overtone import tune

def train(config):
    for _ in range(5):
        time.sleep(0.2)
        tune.report(loss=config["x"], host=socket.gethostname())

found = tune.run(train, config={"x": tune.grid_search([1, 2, 3, 4, 5, 6])}, metric="loss", mode="min", name="hosts",
                 engine="ray", resources_per_trial={"cpu": 1}, verbose=0)
print("hosts:", *sorted({trial.last_result["host"] for trial in found.trials}))
"""


@pytest.fixture(scope="module")
def cluster(three_hosts: Network) -> Iterator[Network]:
    """Three hosts with a cluster that is up."""
    three_hosts.write_config()
    done = three_hosts.overtone("up", "c.yaml")
    assert done.returncode == 0, done.stdout
    yield three_hosts
    done = three_hosts.overtone("down", "c.yaml")
    assert done.returncode == 0, done.stdout
    assert "nothing is left" in done.stdout
    assert three_hosts.left() == {}
    assert three_hosts.files_left() == []


@pytest.mark.full
def test_trials_run_on_all_hosts(cluster: Network) -> None:
    cluster.hosts[0].home("script.py").write_text(SCRIPT)
    done = cluster.overtone("exec", "c.yaml", "python ~/script.py")
    assert "hosts: host1 host2 host3" in done.stdout


@pytest.mark.full
def test_up_again_changes_nothing(cluster: Network) -> None:
    before = [set(host.processes()) for host in cluster.hosts]
    done = cluster.overtone("up", "c.yaml", "--json")
    assert done.returncode == 0, done.stdout
    facts = json.loads(done.stdout)
    assert (facts["started"], facts["phase"]) == (False, "up")
    for host, then in zip(cluster.hosts, before, strict=True):
        ray = {pid for pid, args in host.processes().items() if "/raylet " in args or "/gcs_server " in args}
        assert ray
        assert ray <= then


@pytest.mark.full
def test_the_autoscaler_starts_no_second_daemon_on_a_worker(cluster: Network) -> None:
    record = cluster.hosts[0].home(".overtone/cluster/nodes.json")
    head, *workers = (host.address for host in cluster.hosts)
    # So does a killed `up` leave it that has started workers, and not recorded them yet.
    record.write_text(json.dumps({head: json.loads(record.read_text())[head]}))
    until(
        lambda: all(json.loads(record.read_text()).get(one, {}).get(STATUS) == "up-to-date" for one in workers),
        "the autoscaler has started the workers",
    )
    daemons = [args for host in cluster.hosts for args in host.processes().values() if "/raylet/raylet " in args]
    assert len(daemons) == 3


@pytest.mark.full
def test_status_shows_nodes_and_experiments(cluster: Network) -> None:
    facts = json.loads(cluster.overtone("status", "three", "--json").stdout)
    assert facts["head"] == "reachable"
    assert [one["id"] for one in facts["resources"] if one["kind"] == "host"] == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    assert isinstance(facts["experiments"], list)
    assert "reachable" in cluster.overtone("status", "c.yaml").stdout


@pytest.mark.full
def test_who_has_no_token_can_neither_join_nor_submit(cluster: Network) -> None:
    none, wrong = {"RAY_AUTH_MODE": "disabled"}, {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    join = [sys.executable, "-m", "ray.scripts.scripts", "start", "--address=10.0.0.1:6379"]
    joins = [cluster.client.begin(*join, env=environment) for environment in (none, wrong)]
    said = [one.communicate(timeout=LONG_S)[0] for one in joins]
    assert all(one.returncode != 0 for one in joins), said
    job = (*join[:3], "job", "submit", "--address=http://127.0.0.1:8265", "--", "true")
    for environment in (none, wrong):
        assert cluster.hosts[0].run(*job, env=environment).returncode != 0
    listening = cluster.hosts[0].check("ss", "-Hltn")
    dashboards = [line.split()[3] for line in listening.splitlines() if line.split()[3].endswith(":8265")]
    assert dashboards == ["127.0.0.1:8265"]


@pytest.mark.full
def test_the_token_shows_nowhere(cluster: Network) -> None:
    token = cluster.client.home(".overtone/clusters/three/token").read_text().strip()
    assert len(token) == 64
    for machine in (cluster.client, *cluster.hosts):
        assert token not in machine.check("ps", "-eo", "args=")
        search = f"grep -rlF {token} {HOME}/.overtone {HOME}/overtone_results {HOME}/overtone_work /tmp 2>/dev/null || true"
        holders = [Path(line) for line in machine.check("bash", "-c", search).split()]
        assert [file.name for file in holders] == ["token"]
        assert machine.path(holders[0]).stat().st_mode & 0o777 == 0o600


@pytest.mark.full
def test_the_dashboard_of_the_head_through_a_tunnel(cluster: Network) -> None:
    pytest.importorskip("starlette", reason="the dashboard needs starlette and uvicorn")
    shown = cluster.begin("ui", "c.yaml")
    shown.wait_for("#token=")
    address = shown.printed.splitlines()[-1].strip()
    page = cluster.client.check("curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", address.partition("#")[0])
    assert page.endswith("200"), page
    shown.signal(signal.SIGINT)
    assert shown.wait() == 0


@pytest.mark.full
def test_a_second_command_says_who_is_at_work(cluster: Network) -> None:
    first = cluster.begin("up", "c.yaml")
    first.wait_for("3 hosts")
    second = cluster.overtone("down", "c.yaml")
    assert second.returncode == 1
    assert "is being changed by overtone up (process" in second.stdout
    assert first.wait() == 0
