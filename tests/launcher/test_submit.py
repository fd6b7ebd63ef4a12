"""`overtone submit` on three hosts: from the start of the cluster to its end, and whatever comes between."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import sys
import termios
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from overtone.reading.journal_index import JournalIndex
from tests.launcher.ssh_hosts import LONG_S, Command, Network, network, read_until, until

SCRIPT = """
import argparse, os, socket, sys, time
from overtone import tune

parser = argparse.ArgumentParser()
parser.add_argument("--trials", type=int, default=6)
parser.add_argument("--name", default="counting")
parser.add_argument("--wait-for", default="")
parser.add_argument("--cpu", type=int, default=1)
parser.add_argument("--megabytes", type=int, default=0)
args = parser.parse_args()

class Counts(tune.Trainable):
    def setup(self, config):
        self.t = self.restored = 0
    def step(self):
        self.t += 1
        if self.t == 3:
            open("/tmp/held", "w").close()
        while self.t == 3 and config_waits(args.wait_for):
            time.sleep(0.05)
        time.sleep(0.2)
        with open("large", "wb") as file:
            file.write(os.urandom(args.megabytes << 20))
        return {"loss": 1.0 / self.t, "host": socket.gethostname(), "restored": self.restored}
    def save_checkpoint(self, folder):
        with open(os.path.join(folder, "t"), "w") as file:
            file.write(str(self.t))
    def load_checkpoint(self, folder):
        with open(os.path.join(folder, "t")) as file:
            self.t = self.restored = int(file.read())

def config_waits(path):
    return path and not os.path.exists(path)

if __name__ == "__main__":
    print("the script begins", sys.argv[1:], flush=True)
    tune.run(Counts, name=args.name, num_samples=args.trials, stop={"training_iteration": 4}, metric="loss",
             mode="min", checkpoint_freq=1, resources_per_trial={"cpu": args.cpu})
    print("the script ends", flush=True)
    sys.exit(7)
"""


def write_project(net: Network, **settings: Any) -> None:
    """Write the script and the config of this test to the client."""
    net.client.path(net.project / "tune_script.py").write_text(SCRIPT)
    net.write_config(files=".", **settings)


class Trial(NamedTuple):
    status: str
    iteration: int
    host: str
    restored: int


def trials(net: Network, name: str = "counting") -> list[Trial]:
    """The trials of an experiment on the client."""
    index = JournalIndex(net.client.home(f"overtone_results/{name}/journal.jsonl"))
    index.refresh()
    rows = index.table.rows.values()
    return [Trial(row.status, row.t, row.metrics["host"], row.metrics["restored"]) for row in rows]


def start_run(net: Network, *arguments: str, options: tuple[str, ...] = (), **more: Any) -> Command:
    return net.begin("submit", "c.yaml", "tune_script.py", *options, "--", *arguments, **more)


def remove_traces(net: Network) -> None:
    """Remove what an earlier test has left: results, and the files that trials wait for."""
    for host in (net.client, *net.hosts):
        shutil.rmtree(host.home("overtone_results"), ignore_errors=True)
        for name in ("go", "held", "on", "seen"):
            host.path(f"/tmp/{name}").unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest) -> None:
    for name in ("three_hosts", "cluster"):
        if name in request.fixturenames:
            remove_traces(request.getfixturevalue(name))


@pytest.fixture(scope="module")
def cluster(three_hosts: Network) -> Iterator[Network]:
    """The hosts, with a cluster that was up before."""
    write_project(three_hosts)
    up = three_hosts.overtone("up", "c.yaml")
    assert up.returncode == 0, up.stdout
    yield three_hosts
    three_hosts.overtone("down", "c.yaml")


@pytest.mark.full
@pytest.mark.parametrize("phase", ["set up", "start head", "start workers", "upload"])
def test_ctrl_c_before_the_script_runs_takes_down_what_was_started(three_hosts, phase):
    setup = "sleep 1000; touch ~/went-on" if phase == "set up" else "true"
    write_project(three_hosts, setup=setup)
    large = three_hosts.client.path(three_hosts.project / "large")
    large.write_bytes(os.urandom((100 if phase == "upload" else 0) << 20))  # some seconds of upload
    command = start_run(three_hosts)
    command.wait_for("sleep 1000" if phase == "set up" else f"overtone: {phase}")
    if phase == "set up":
        until(lambda: all("sleep 1000" in str(host.processes()) for host in three_hosts.hosts), "the setup runs")
    command.signal(signal.SIGINT)
    assert command.wait() == 130, command.printed
    large.unlink()
    assert not any(host.home("went-on").exists() for host in three_hosts.hosts)
    assert "the script begins" not in command.printed
    assert three_hosts.left() == {}
    assert "down" in three_hosts.overtone("clusters").stdout


@pytest.mark.full
def test_ctrl_c_lets_the_run_save_and_brings_it_back(cluster):
    command = start_run(cluster, "--wait-for", "/tmp/go", "--trials", "1")
    command.wait_for("the script begins")
    until(lambda: "2" in on_head(cluster), "a checkpoint on the head")
    command.signal(signal.SIGINT)
    command.wait_for("stopping the run")
    for host in cluster.hosts:
        host.check("touch", "/tmp/go")
    assert command.wait() == 7, command.printed
    assert trials(cluster)[0].iteration >= 2
    assert "three is up" in command.printed.splitlines()[-1]


@pytest.mark.full
def test_ctrl_c_while_results_come_back_does_not_lose_them(cluster):
    command = start_run(cluster, "--trials", "1", "--megabytes", "100")
    command.wait_for("overtone: bring back")
    command.signal(signal.SIGINT)
    assert command.wait() == 7, command.printed
    assert "bring back: done" in command.printed
    (trial,) = trials(cluster)
    (large,) = cluster.client.home("overtone_results/counting").glob("*/large")
    assert (trial.iteration, large.stat().st_size) == (4, 100 << 20)


@pytest.mark.full
def test_a_killed_command_is_followed_by_attach(cluster):
    command = start_run(cluster, "--trials", "2", "--wait-for", "/tmp/on")
    command.wait_for("the script begins")
    command.signal(signal.SIGKILL)
    command.wait()
    again = start_run(cluster, "--trials", "2", "--wait-for", "/tmp/on")
    assert again.wait() == 1
    assert "runs on three already" in again.printed
    assert "overtone attach c.yaml" in again.printed
    attached = cluster.begin("attach", "c.yaml", "--all")
    attached.wait_for("the script begins")
    other = start_run(cluster, "--trials", "1", "--name", "other")  # another script at the same time
    assert other.wait() == 7, other.printed
    for host in cluster.hosts:
        host.check("touch", "/tmp/on")
    assert attached.wait() == 7, attached.printed
    assert attached.printed.count("the script ends") == 1
    assert [one.status for one in trials(cluster)] == ["TERMINATED"] * 2
    assert len(trials(cluster, "other")) == 1


@pytest.mark.full
def test_an_interrupted_local_experiment_goes_on_there(cluster):
    here = cluster.client.begin(
        sys.executable, "tune_script.py", "--trials", "1", "--wait-for", "/tmp/never", folder=cluster.project
    )
    command = Command(here)
    until(lambda: "2" in saved(cluster), "a checkpoint")
    command.signal(signal.SIGINT)
    cluster.client.check("touch", "/tmp/never")
    command.wait()
    for host in cluster.hosts:
        host.check("touch", "/tmp/never")
    done = cluster.overtone("submit", "c.yaml", "--resume", "counting")
    assert done.returncode == 7, done.stdout
    (trial,) = trials(cluster)
    assert trial.iteration == 4
    assert trial.restored >= 2
    assert trial.host.startswith("host")


def on_head(net: Network) -> str:
    found = []
    for host in net.hosts:
        found += [path.read_text() for path in host.home("overtone_results").glob("*/*/checkpoint_*/t")]
    return "".join(found)


def saved(net: Network) -> str:
    return "".join(
        path.read_text() for path in net.client.home("overtone_results").glob("*/*/checkpoint_*/t")
    )


@pytest.mark.full
def test_commands_and_files_of_the_head(cluster):
    project = cluster.client.path(cluster.project)
    (project / "data").mkdir()
    (project / "data" / "numbers.txt").write_text("1 2 3")
    assert cluster.overtone("put", "c.yaml", "data", "~/data").returncode == 0
    shown = cluster.overtone(
        "exec", "c.yaml", "cat ~/data/numbers.txt; hostname; ray status >/dev/null && echo answers; exit 5"
    )
    assert shown.returncode == 5
    assert shown.stdout.splitlines() == ["1 2 3host1", "answers"]
    given = cluster.overtone("exec", "c.yaml", "wc -c; echo of $(hostname)", input="x" * 300_000)
    assert given.stdout.split() == ["300000", "of", "host1"]
    assert cluster.overtone("get", "c.yaml", "~/data", "copy").returncode == 0
    assert (project / "copy" / "numbers.txt").read_text() == "1 2 3"
    missing = cluster.overtone("get", "c.yaml", "~/nothing", ".")
    assert missing.returncode == 1
    assert "there is no such file on root@10.0.0.1" in missing.stdout


@pytest.mark.full
def test_a_terminal_shows_the_live_table_and_a_person_may_detach(cluster):
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    command = start_run(
        cluster, "--trials", "2", "--wait-for", "/tmp/seen",
        stdin=slave, stdout=slave, stderr=slave, env={"TERM": "xterm-256color"},
    )  # fmt: skip
    os.close(slave)
    shown = read_until(master, b"0/2 finished")
    assert b"\x1b[" in shown  # a table that is redrawn
    command.signal(signal.SIGINT)
    read_until(master, b"[c]ontinue? ")
    os.write(master, b"d\n")
    assert b"goes on" in read_until(master, b"\n", after=b"goes on")
    assert command.process.wait(LONG_S) == 0
    os.close(master)
    for host in cluster.hosts:
        host.check("touch", "/tmp/seen")
    attached = cluster.overtone("attach", "c.yaml")
    assert attached.returncode == 7, attached.stdout
    assert [trial.iteration for trial in trials(cluster)] == [4, 4]


@pytest.mark.full
def test_down_lets_a_detached_run_save_and_brings_its_results(three_hosts):
    write_project(three_hosts)
    command = start_run(three_hosts, "--trials", "2", "--wait-for", "/tmp/go", options=("--detach",))
    assert command.wait() == 0, command.printed
    until(lambda: on_head(three_hosts).count("2") >= 2, "checkpoints")
    down = three_hosts.overtone("down", "c.yaml")
    assert down.returncode == 0, down.stdout
    assert "bring back: done" in down.stdout
    assert three_hosts.left() == {}
    assert all(trial.iteration >= 2 for trial in trials(three_hosts))
    assert len(trials(three_hosts)) == 2


@pytest.mark.full
def test_ctrl_c_while_it_is_taken_down_leaves_nothing(cluster):
    command = start_run(cluster, "--trials", "1", options=("--stop",))
    command.wait_for("overtone: take down")
    command.signal(signal.SIGINT)
    assert command.wait() == 7, command.printed
    assert "press Ctrl-C again" in command.printed
    assert cluster.left() == {}


@pytest.mark.full
def test_two_at_the_same_moment_share_the_cluster_and_the_last_one_takes_it_down(three_hosts):
    write_project(three_hosts)
    commands = [start_run(three_hosts, "--trials", "2", "--name", name) for name in ("one", "two")]
    for command in commands:
        assert command.wait() == 7, command.printed
    printed = [command.printed.splitlines() for command in commands]
    assert any("nothing is left" in lines[-1] for lines in printed), printed
    assert len(trials(three_hosts, "one")) == len(trials(three_hosts, "two")) == 2
    assert three_hosts.left() == {}


@pytest.mark.full
def test_the_loss_of_a_worker_and_of_the_head():
    with network(3) as net:
        write_project(net)
        arguments = ("--trials", "3", "--wait-for", "/tmp/go")
        command = start_run(net, *arguments)
        command.wait_for("the script begins")
        until(lambda: on_head(net).count("2") >= 2, "checkpoints")
        until(lambda: saved(net).count("2") >= 2, "results on the client")
        net.hosts[2].kill()
        net.hosts[0].kill()
        assert command.wait() == 1, command.printed
        assert "does not answer" in command.printed
        (net.client.path(net.project / "c.yaml")).write_text(
            json.dumps(
                {
                    "name": "three",
                    "provider": {"type": "local", "hosts": ["10.0.0.2"], "user": "root"},
                    "files": ".",
                }
            )
        )
        net.hosts[1].check("touch", "/tmp/go")
        again = start_run(net, *arguments)
        assert again.wait() == 7, again.printed
        assert [trial.status for trial in trials(net)] == ["TERMINATED"] * 3
        assert sum(trial.restored >= 2 for trial in trials(net)) >= 2
        del net.hosts[2], net.hosts[0]
        assert net.left() == {}
