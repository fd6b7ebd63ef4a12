"""The launcher's commands on a real Slurm whose login node is another machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.launcher.slurm_by_ssh import LOGIN, Client, slurm_by_ssh

pytestmark = [pytest.mark.timeout(900), pytest.mark.full]

CONFIG = f"""
name: digits
provider: {{type: slurm, partition: small, login: root@{LOGIN}, ssh_key: ~/key}}
head: cpus=2,memory=2G
workers: {{min: 0, max: 0}}
limits: {{cluster_idle: 5m, hours: 1}}
"""

TUNNEL = """
import sys, time, urllib.request
from pathlib import Path
from overtone.cluster.config_reading import read_config
from overtone.cluster.slurm.logins import node_remote

config = read_config(Path("c.yaml"))
end = time.monotonic() + 60
with node_remote(config, "node1").forward(int(sys.argv[1])) as port:
    while True:
        try:
            print(urllib.request.urlopen(f"http://127.0.0.1:{port}/hello", timeout=60).read().decode())
            break
        except OSError:  # The server has not begun.
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
"""

PORT = "8999"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with slurm_by_ssh() as made:
        (made.home / "c.yaml").write_text(CONFIG)
        (made.home / "hello").write_text("hello")
        yield made


def test_commands_through_a_login_node(client: Client) -> None:
    client.overtone("up", "c.yaml")
    client.overtone("put", "c.yaml", "hello", "~/hello")
    assert client.overtone("exec", "c.yaml", "hostname; cat ~/hello; exit 3", status=3) == "node1\nhello"
    client.overtone("get", "c.yaml", "~/hello", "back")
    assert (client.home / "back").read_text() == "hello"
    assert "nothing is left" in client.overtone("down", "c.yaml")
    assert "no cluster is up" in client.overtone("clusters")
    assert client.slurm.processes()["node1"] == []


def test_a_tunnel_to_a_node_that_only_the_login_node_reaches(client: Client) -> None:
    (client.slurm.home / "hello").write_text("hello")
    assert _through_tunnel(client) == "hello\n"


def _through_tunnel(client: Client) -> str:
    """Read a file by the tunnel to a server on the first node, which the client reaches by the login node alone."""
    node = client.slurm.nodes["node1"]
    server = [sys.executable, "-m", "http.server", PORT, "--bind", "127.0.0.1", "--directory", "/mnt/home"]
    with node.begin(*server) as serving:
        try:
            with client.begin(sys.executable, "-c", TUNNEL, PORT) as process:
                output, _ = process.communicate(timeout=300)
            assert process.returncode == 0, output
            return output
        finally:
            serving.kill()
