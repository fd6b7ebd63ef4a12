"""Clusters of two users and a Ray of somebody else on one host: each end removes its own temporary files alone."""

from __future__ import annotations

import sys

import pytest

from tests.launcher.ssh_hosts import HOME, Host, network

RAY = (sys.executable, "-m", "ray.scripts.scripts")
ALIVE = "ray status >/dev/null && echo answers; python ~/trials.py"
TRIALS = """
import socket, tempfile
from overtone import tune

def train(config):
    tune.report(loss=config["x"], host=socket.gethostname(), folder=tempfile.gettempdir())

found = tune.run(train, config={"x": tune.grid_search([1, 2])}, metric="loss", mode="min", engine="ray", verbose=0,
                 resources_per_trial=tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}], strategy="STRICT_SPREAD"))
print("folders:", *sorted({trial.last_result["folder"] for trial in found.trials}))
"""


def start_ray(host: Host) -> None:
    """Start a Ray that is no cluster of the launcher's, as a person does."""
    ports = ("--port=6400", "--ray-client-server-port=9500", "--dashboard-agent-listen-port=9501")
    host.check(*RAY, "start", "--head", "--include-dashboard=false", "--num-cpus=1", *ports)


def folder_of(host: Host, owner: int) -> str:
    """The path of the folder for temporary files of a user's cluster on a host."""
    found = [one for one in host.path("/tmp").glob("ot-*") if one.stat().st_uid == owner]
    assert len(found) == 1, found
    return f"/tmp/{found[0].name}"


@pytest.mark.full
def test_clusters_that_share_a_host_leave_each_other_alone_and_nothing_else() -> None:
    with network(3) as net:
        shared = net.hosts[2]
        for host in net.hosts:
            host.add_user("ann", net.public_key)
        users = {"root": (HOME, 0, "10.0.0.1"), "ann": ("/run/ann", 1500, "10.0.0.2")}
        start_ray(shared)
        before = set(shared.temporary_files())
        for user, (home, owner, head) in users.items():
            provider = {"type": "local", "hosts": [head, shared.address], "user": user}
            net.write_config(f"{user}.yaml", name=f"of-{user}", provider=provider)
            up = net.overtone("up", f"{user}.yaml")
            assert up.returncode == 0, up.stdout
            host = net.hosts[int(head[-1]) - 1]
            host.path(f"{home}/trials.py").write_text(TRIALS)
            assert host.path(folder_of(host, owner)).stat().st_mode & 0o777 == 0o700
        folders = {user: folder_of(shared, owner) for user, (_, owner, _) in users.items()}

        def check_runs(user: str) -> None:
            done = net.overtone("exec", f"{user}.yaml", ALIVE)
            assert done.stdout.startswith("answers\n"), done.stdout
            assert f"folders: {folders[user]}\n" in done.stdout

        check_runs("root")
        check_runs("ann")
        assert net.overtone("down", "root.yaml").returncode == 0
        assert net.hosts[0].temporary_files() == []
        assert set(shared.temporary_files()) == before | {folders["ann"].removeprefix("/tmp/")}
        check_runs("ann")
        assert net.overtone("down", "ann.yaml").returncode == 0
        assert net.hosts[1].temporary_files() == []
        assert set(shared.temporary_files()) == before
        assert "1.0 CPU" in shared.check(*RAY, "status", "--address=10.0.0.3:6400")
        shared.check(*RAY, "stop", "--force")
