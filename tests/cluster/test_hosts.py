"""Hosts with an address, processes, memory and folders of their own: one is cut off, and then it is gone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.namespace_host import ADDRESS, Host

pytest.importorskip("ray", reason="tests of the cluster engine need Ray")

STEPS = 20
GONE_WITHIN_S = 90.0
"""On a busy machine; `tests/chaos/gangs.py` measures that it is two seconds on another."""
TRAINING = Path(__file__).with_name("training_on_hosts.py")
PAGE = Path(__file__).with_name("page_of_hosts.py")
START = [sys.executable, str(Path(__file__).with_name("start_ray.py")), "start"]
LARGE_BYTES = 40_000_000
"""The large parameter of `SCRIPT`."""

MODEL = """
import time
from pathlib import Path
from overtone import tune

class Steps(tune.Trainable):
    def setup(self, config, data):
        assert data.sum() == 5_000_000
        self.n = 0
    def step(self):
        time.sleep(0.1)
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": self.n >= self.config["steps"] and Path(self.config["folder"], "may_end").exists()}
    def save_checkpoint(self, folder):
        Path(folder, "n").write_text(str(self.n))
    def load_checkpoint(self, folder):
        self.n = int(Path(folder, "n").read_text())
"""
SCRIPT = """
import sys
import numpy as np
from model import Steps
from overtone import tune

large = tune.with_parameters(Steps, data=np.ones(5_000_000))
tune.run(large, config={"folder": sys.argv[1], "steps": int(sys.argv[2])}, num_samples=4, checkpoint_freq=5, metric="loss", mode="min",
         name="hosts", storage_path=sys.argv[1], resources_per_trial={"cpu": 1})
"""

STEERED = """
import sys, time
import ray
from overtone import tune

def run_on(config):
    while True:
        time.sleep(0.1)
        tune.report(loss=0.0)

ray.init(address="auto")
tune.run(run_on, num_samples=1, metric="loss", mode="min", name="steered", storage_path=sys.argv[1])
"""

WATCHED = """
import sys, time
import ray
from overtone import tune

def run_on(config):
    while True:
        time.sleep(0.1)
        tune.report(loss=0.0)

ray.init(address="auto")
tune.run(run_on, num_samples=4, metric="loss", mode="min", name="watched", storage_path=sys.argv[1], engine="ray",
         resources_per_trial={"cpu": 1}, ui=True)
"""

STRANGER = """
import sys, time
import ray
from overtone import tune
from overtone.errors import OvertoneError

for attempt in range(3):
    begun = time.monotonic()
    try:
        tune.run(lambda config: tune.report(loss=0), engine=tune.ray_cluster(sys.argv[1]), metric="loss", mode="min")
    except OvertoneError:
        took = time.monotonic() - begun
        print("refused after", took, "s", flush=True)
        if took < 40 or attempt == 2:  # a busy machine may be slow once
            raise
"""

QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 10_000,
    "health_check_failure_threshold": 2,
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Host]]:
    """Makes one more host, on one network with the others."""
    if sys.platform != "linux":
        pytest.skip("hosts need Linux namespaces")
    logs = tmp_path_factory.mktemp("hosts")
    with ExitStack() as made:
        folder = Path(tempfile.mkdtemp(prefix="ot", dir="/tmp"))  # sockets need a short path
        made.callback(folder.rmdir)

        def make(name: str) -> Host:
            one = Host(name, folder, logs / f"{name}.log")
            made.callback(one.kill)
            if name in ADDRESS:
                one.connect(ADDRESS[name], switch)
            return one

        switch = make("switch")
        switch.run("ip", "link", "add", "lan", "type", "bridge")
        switch.run("ip", "link", "set", "lan", "up")
        yield make


@pytest.fixture(scope="module")
def pair(host: Callable[[str], Host]) -> tuple[Host, Host]:
    """The head of a cluster and its other node; the last test of this module cuts off the other."""
    head, other = host("head"), host("other")
    limits = ["--num-cpus=2", "--object-store-memory=80000000"]
    head.run(
        *START, "--head", "--node-ip-address", ADDRESS["head"], "--port=6379", "--redis-password=123",
        "--dashboard-host=0.0.0.0", '--resources={"here": 1}', *limits, f"--system-config={json.dumps(QUICK)}",
    )  # fmt: skip
    other.run(*START, f"--address={ADDRESS['head']}:6379", "--redis-password=123", *limits)
    return head, other


def command(name: str, *arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name(name)), *arguments]


def ray(*arguments: str) -> list[str]:
    return command("ray", *arguments)


def until(is_so: Callable[[], Any], what: str, within_s: float = 300) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"{what}: not within {within_s:g} s"
        time.sleep(0.1)
    return found


def events(head: Host, name: str, kind: str) -> list[dict[str, Any]]:
    """The events of a kind in the journal of an experiment, which its driver keeps on the head."""
    journal = head.path(f"results/{name}/journal.jsonl")
    lines = journal.read_text().splitlines() if journal.exists() else []
    return [one for line in lines for one in [json.loads(line)] if one["e"] == kind]


def train(head: Host, ranks: int) -> subprocess.Popen[bytes]:
    """A driver whose trial trains with so many ranks; several wait to be killed after 2 and 4 epochs."""
    command = [sys.executable, str(TRAINING), str(head.folder / "results"), str(ranks)]
    return head.begin(*command)


def pid_of(host: Host, name: str) -> int:
    """The process that `training_on_hosts.note_pid` has named; 0 for none."""
    file = host.path(f"pids/{name}")
    return int(file.read_text()) if file.exists() else 0


def results(head: Host, name: str) -> list[dict[str, Any]]:
    """The results of the only trial of an experiment."""
    files = list(head.path(f"results/{name}").glob("*/result.json"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def test_a_driver_on_a_host_that_is_not_a_node_says_so_soon(
    host: Callable[[str], Host], pair: tuple[Host, Host]
) -> None:
    stranger = host("stranger")
    stranger.path("script.py").write_text(STRANGER)
    script = stranger.begin(sys.executable, "script.py", f"{ADDRESS['head']}:6379")
    assert script.wait(300) == 1
    said = stranger.log.read_text()
    assert "this machine is not a node of it" in said
    took = [float(one.split()[0]) for one in said.split("refused after ")[1:]]
    assert min(took) < 40  # Ray's own search takes a minute; 3 s of it remain, and connecting


def test_a_gang_on_two_hosts_trains_like_one_rank_whichever_process_is_killed(pair: tuple[Host, Host]) -> None:
    head, other = pair
    alone, both = train(head, 1), train(head, 2)
    until(lambda: both.poll() or list(other.path("pids").glob("rank-?-of-2")), "a rank runs on the other host")
    assert both.poll() is None, head.log.read_text()[-3000:]
    (there,) = [file.name for file in other.path("pids").glob("rank-?-of-2")]
    here = f"rank-{1 - int(there[5])}-of-2"
    for n_epochs, on, doomed in [(2, other, there), (4, head, "head-2")]:
        until(lambda n=n_epochs: len(results(head, "training-2")) >= n, f"{n_epochs} epochs have ended")
        pids = [(head, pid_of(head, "head-2")), (head, pid_of(head, here)), (other, pid_of(other, there))]
        on.signal("KILL", pid_of(on, doomed))
        until(lambda pids=pids: not any(on.has(pid) for on, pid in pids), "all processes end", GONE_WITHIN_S)
    assert [script.wait(300) for script in (alone, both)] == [0, 0], head.log.read_text()[-3000:]
    found = results(head, "training-2")
    assert [one["training_iteration"] for one in found] == list(range(1, 9))
    values = zip(results(head, "training-1")[-1]["values"], found[-1]["values"], strict=True)
    assert max(abs(x - y) for x, y in values) < 1e-5
    starts = [one.get("restored") for one in events(head, "training-2", "started")]
    assert [start is not None and start["t"] >= 2 for start in starts] == [False, True, True]
    saved = list(head.path("results/training-2").glob("*/checkpoint_*"))
    assert saved
    for folder in saved:  # the parts of hosts that share no disk: all or none
        assert {file.name for file in folder.glob("part-*")} == {"part-0", "part-1"}


def test_a_trainer_outside_of_trials_has_its_ranks_on_both_hosts(pair: tuple[Host, Host]) -> None:
    head, _ = pair
    head.run(sys.executable, str(TRAINING.with_name("trainer_on_hosts.py")))
    assert "trained on head other True" in head.log.read_text()


def test_requests_reach_a_driver_on_another_host(pair: tuple[Host, Host], tmp_path: Path) -> None:
    head, other = pair
    script, folder = tmp_path / "script.py", tmp_path / "steered"
    script.write_text(STEERED)
    driver = head.begin(sys.executable, str(script), str(tmp_path))
    way_in = folder / "control.sock"
    until(lambda: driver.poll() is not None or way_in.exists(), "it runs")
    other.run("mount", "--bind", "/dev/null", str(way_in))  # the hosts share the folder, and no sockets

    def ask(*request: str) -> None:
        other.run("env", f"RAY_ADDRESS={ADDRESS['head']}:6379", *command("overtone", "ctl", str(folder), *request))

    ask("note", "from another host")
    ask("stop")
    assert driver.wait(300) == 0, head.log.read_text()[-3000:]
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert [one["what"] for one in lines if one["e"] == "requested"] == ["note", "stop"]


@pytest.mark.full
def test_the_page_of_a_run_on_two_hosts(pair: tuple[Host, Host], tmp_path: Path) -> None:
    pytest.importorskip("starlette", reason="the dashboard needs starlette and uvicorn")
    head, other = pair
    script, folder = tmp_path / "script.py", tmp_path / "watched"
    script.write_text(WATCHED)
    driver = head.begin("env", f"XDG_RUNTIME_DIR={head.folder}", sys.executable, str(script), str(tmp_path))

    def address(host: Host) -> str:
        found = re.findall(r"http://127\S+#token=\S+", host.log.read_text())
        assert found or driver.poll() is None, head.log.read_text()[-3000:]
        return found[-1] if found else ""

    def ask(host: Host, *request: str) -> Any:
        return json.loads(host.output(sys.executable, str(PAGE), address(host), *request))

    def act(host: Host, **action: Any) -> Any:
        return ask(host, "actions", json.dumps({"id": f"action-{action['verb']}", **action}))

    def nodes() -> dict[str, Any]:
        found = {one["name"]: one for one in ask(head, "machines")["nodes"]}
        return found if sum(bool(one["time"]) for one in found.values()) >= 2 else {}

    until(lambda: address(head), "it prints the address")
    until(lambda: ask(head, "overview").get("results", 0) >= 40, "trials report")
    found = until(nodes, "both hosts are sampled")
    assert {name: len(one["trials"]) for name, one in found.items()} == {"head": 2, "other": 2}
    assert {one["node"] for one in ask(head, "overview")["running"]} == {"head", "other"}
    trial = found["other"]["trials"][0]["trial_id"]
    assert act(head, verb="pause", trial=trial)["trial_id"] == trial
    assert act(head, verb="note", args={"text": "from the page"})["n"]
    other.run("mount", "--bind", "/dev/null", str(folder / "control.sock"))  # the hosts share the folder, and no sockets
    serves = other.begin("env", f"RAY_ADDRESS={ADDRESS['head']}:6379", *command("overtone", "ui", str(tmp_path)))
    until(lambda: address(other), "another host serves the folder")
    assert act(other, verb="stop")["n"]
    assert driver.wait(300) == 0, head.log.read_text()[-3000:]
    serves.terminate()
    serves.wait(300)
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert [one["what"] for one in lines if one["e"] == "requested"] == ["pause_trial", "note", "stop"]


def test_trials_of_a_host_that_is_cut_off_go_on_elsewhere(pair: tuple[Host, Host]) -> None:
    head, other = pair
    head.path("job").mkdir()
    head.path("job/model.py").write_text(MODEL)
    head.path("job/script.py").write_text(SCRIPT)
    script = head.begin(
        *ray("job", "submit", f"--address=http://{ADDRESS['head']}:8265", "--working-dir=job", "--"),
        sys.executable, "script.py", str(head.folder / "results"), str(STEPS),
    )  # fmt: skip

    def of(kind: str) -> list[dict[str, Any]]:
        assert script.poll() in (None, 0)
        return events(head, "hosts", kind)

    until(lambda: len(of("started")) == 4, "all trials run")
    there = {one["trial_id"] for one in of("started") if one["node"] == ADDRESS["other"]}
    assert len(there) == 2

    def are_far() -> bool:
        return there <= {one["trial_id"] for one in of("reported") if one["t"] >= 12}

    until(are_far, "they have checkpoints")
    head.run(*command("overtone", "ctl", str(head.folder / "results/hosts"), "note", "to a driver in a job"))
    assert [one["what"] for one in of("requested")] == ["note"]
    assert not other.path("results").exists()
    assert LARGE_BYTES <= other.shared_bytes() < 1.75 * LARGE_BYTES  # one copy
    other.run("ip", "link", "set", "eth0", "down")

    def are_lost() -> bool:
        return there <= {one["trial_id"] for one in of("ended") if one["cause"] == "lost"}

    until(are_lost, "Ray gives the host up")
    other.kill()
    head.path("results/may_end").touch()  # the other host never had it
    assert script.wait(300) == 0
    again = [one for one in of("started") if one["trial_id"] in there and one["node"] == ADDRESS["head"]]
    assert len(again) == 2
    assert all(one["restored"]["t"] >= 10 for one in again)
    files = list(head.path("results/hosts").glob("*/result.json"))
    assert len(files) == 4
    for file in files:
        found = [json.loads(line)["n"] for line in file.read_text().splitlines()]
        assert found == list(range(1, max(STEPS, len(found)) + 1))
    head.run(*ray("stop"))
    assert not [one for one in head.commands() if "raylet" in one or "gcs_server" in one]
