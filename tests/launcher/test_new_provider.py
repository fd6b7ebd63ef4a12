"""The provider of docs/new-provider.md, with Terraform itself: its machines are hosts in network namespaces."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launcher.ssh_hosts import Command, Network, network, until

PAGE = (Path(__file__).parents[2] / "docs" / "new-provider.md").read_text("utf-8")

INFRASTRUCTURE = """
variable "cluster" { type = string }
variable "workers" { type = number }
resource "terraform_data" "machine" {
  count = var.workers + 1
  input = "10.0.0.${count.index + 1}"
  provisioner "local-exec" { command = "while [ -e hold ]; do sleep 0.1; done" }
}
output "addresses" { value = terraform_data.machine[*].output }
"""

OFF = """#!/bin/sh
echo off > /run/off
"""
"""In the place of `shutdown`: a namespace cannot be switched off."""

SCRIPT = """
import socket
from overtone import tune

def train(config):
    tune.report(loss=config["x"], host=socket.gethostname())

found = tune.run(train, config={"x": tune.grid_search(list(range(12)))}, metric="loss", mode="min", name="rented",
                 engine="ray", resources_per_trial={"cpu": 1}, verbose=0)
print("hosts:", *sorted({trial.last_result["host"] for trial in found.trials}))
"""


@pytest.fixture
def rented() -> Iterator[Network]:
    """Two hosts that Terraform gives, and the page's provider in the project of the client."""
    if shutil.which("terraform") is None:
        pytest.skip("needs terraform: https://developer.hashicorp.com/terraform/install")
    with network(2) as made:
        for host in made.hosts:
            host.path("/run/bin/shutdown").write_text(OFF)
            host.path("/run/bin/shutdown").chmod(0o755)
            host.path("/run/bin/sudo").write_text('#!/bin/sh\nshift; exec "$@"\n')
            host.path("/run/bin/sudo").chmod(0o755)
        project = made.client.path(made.project)
        (project / "machines").mkdir()
        (project / "machines/main.tf").write_text(INFRASTRUCTURE)
        (project / "terraform.py").write_text(
            next(text for text in re.findall(r"```python\n(.*?)```", PAGE, re.S) if "ABOUT" in text)
        )
        (project / "script.py").write_text(SCRIPT)
        write_config(made)
        yield made


def write_config(made: Network, **more: object) -> None:
    provider = {"type": "./terraform.py", "folder": "machines", "user": "root"}
    config = {"name": "digits", "provider": provider, "workers": {"max": 1}, "files": ".", **more}
    made.client.path(made.project / "c.yaml").write_text(json.dumps(config))


def created(made: Network) -> list[str]:
    """What Terraform says that exists."""
    command = ["env", "TF_WORKSPACE=overtone-digits", "terraform", "-chdir=machines", "state", "list"]
    done = made.client.run(*command, folder=made.project)
    return done.stdout.split() if done.returncode == 0 else []


def begin_to_create(made: Network) -> tuple[Command, Path]:
    """Begin `up` until Terraform creates a machine; it goes on when the file is removed."""
    hold = made.client.path(made.project / "machines/hold")
    hold.touch()
    begun = made.begin("up", "c.yaml")
    until(lambda: "while [ -e hold ]" in str(made.client.processes()), "Terraform creates")
    return begun, hold


@pytest.mark.full
def test_the_page_s_provider_runs_a_script_and_leaves_nothing(rented: Network) -> None:
    planned = rented.overtone("plan", "c.yaml", "--show")
    assert planned.returncode == 0, planned.stdout
    assert "left     after `overtone down`: nothing that Terraform has created" in planned.stdout
    assert "workers = '1'" in planned.stdout
    assert created(rented) == []

    done = rented.overtone("submit", "c.yaml", "script.py")
    assert done.returncode == 0, done.stdout
    assert "hosts: host1 host2" in done.stdout
    assert "nothing is left" in done.stdout
    assert created(rented) == []
    assert rented.client.home("overtone_results/rented").exists()

    again = rented.overtone("down", "c.yaml")
    assert (again.returncode, created(rented)) == (0, []), again.stdout


@pytest.mark.full
def test_ctrl_c_while_terraform_creates_leaves_nothing(rented: Network) -> None:
    begun, hold = begin_to_create(rented)
    begun.signal(signal.SIGINT)
    hold.unlink()
    assert begun.wait() == 130, begun.printed
    assert created(rented) == [], begun.printed


@pytest.mark.full
def test_kill_9_while_terraform_creates_is_taken_down_by_down(rented: Network) -> None:
    begun, hold = begin_to_create(rented)
    begun.signal(signal.SIGKILL)
    begun.wait()
    down = rented.begin("down", "c.yaml")
    hold.unlink()
    assert down.wait() == 0, down.printed
    assert "nothing is left" in down.printed
    assert created(rented) == []


@pytest.mark.full
def test_machines_shut_down_when_the_cluster_is_idle(rented: Network) -> None:
    write_config(rented, limits={"cluster_idle": "5s"})
    done = rented.overtone("up", "c.yaml")
    assert done.returncode == 0, done.stdout
    until(lambda: all(host.path("/run/off").exists() for host in rented.hosts), "both machines shut down")
    facts = json.loads(rented.overtone("status", "c.yaml", "--json").stdout)
    assert facts["ended_because"] == "idle for 5s"
    assert rented.overtone("down", "c.yaml").returncode == 0
    assert created(rented) == []
