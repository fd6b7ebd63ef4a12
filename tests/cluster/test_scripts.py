"""Scripts on a cluster: trials that use Ray, large parameters, the same results as on one machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.testing.engine_disasters import is_gone
from overtone.worker.checkpoints import held_folders

pytestmark = pytest.mark.filterwarnings("default")

ROOT = Path(__file__).parents[2]


def data_parallel(config: dict[str, Any]) -> None:
    """SGD on a line, its gradients from four actors in the trial's own reservation."""
    import numpy as np
    import ray

    @ray.remote(num_cpus=0.25)
    class Shard:
        def __init__(self, rank: int) -> None:
            self.x = np.random.default_rng(rank).normal(size=200)

        def gradient(self, weight: float, dies: bool) -> float:
            if dies:
                os._exit(1)
            return float(np.mean(2 * (weight - 3.0) * self.x**2))

    group = ray.util.get_current_placement_group()
    shards = [Shard.remote(rank) for rank in range(4)]
    print("four of them")
    weight = 0.0
    for t in range(10):
        dies = [config["dies"] and t == 4 and rank == 2 for rank in range(4)]
        found = ray.get([one.gradient.remote(weight, die) for one, die in zip(shards, dies, strict=True)])
        weight -= 0.3 * sum(found) / 4
        tune.report({"loss": abs(weight - 3.0), "bundles": group.bundle_count})


def test_a_trial_that_uses_ray_starts_actors_in_its_reservation(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    from overtone.engines.ray.cluster_view import look

    nodes.add(num_cpus=3)
    nodes.wait()
    gang = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}])
    analysis = tune.run(
        tune.with_resources(data_parallel, gang, ray=True), config={"dies": tune.grid_search([False, True])},
        engine=engine(), callbacks=[seen], storage_path=str(tmp_path), metric="loss", mode="min", verbose=0,
        raise_on_failed_trial=False, log_to_file=True,
    )  # fmt: skip
    good, bad = analysis.trials
    assert (good.status, bad.status) == ("TERMINATED", "ERROR")
    for trial in analysis.trials:
        assert Path(analysis.experiment_path, trial.trial_id, "stdout").read_text() == "four of them\n"
    results = [event for event in seen.of(m.Reported) if event.trial_id == good.trial_id]
    assert len(results) == 10
    assert results[-1].metrics["loss"] < 0.1
    assert results[-1].metrics["bundles"] == 2
    (end,) = [event for event in seen.of(m.Ended) if event.trial_id == bad.trial_id]
    assert "ActorDiedError" in end.error
    deadline = time.monotonic() + 300
    while any(one.free.get("cpu", 0) != one.total["cpu"] for one in look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert all(one.free.get("cpu") == one.total["cpu"] for one in look())


@pytest.mark.full
def test_the_example_of_data_parallel_training(cluster: Any, nodes: Any, tmp_path: Path) -> None:
    nodes.add(num_cpus=1)
    nodes.wait()
    said = _run(ROOT / "examples" / "ray_data_parallel.py", cluster.address, tmp_path)
    assert "running on the Ray engine: 2 nodes" in said
    best = re.search(r"best: lr=0.3, (.*) from what was wanted", said)
    assert best is not None
    assert float(best[1]) < 0.02


@pytest.mark.full
def test_a_trial_that_uses_ray_is_held_to_its_limits_over_its_attempts(
    cluster: Any, engine: Any, tmp_path: Path
) -> None:
    limit_s = 5

    def nap(config: dict[str, Any]) -> None:
        died = Path(config["folder"], "died")
        if not died.exists():
            time.sleep(0.8 * config["limit_s"])
            died.touch()
            os._exit(1)
        for t in range(6000):
            time.sleep(0.01 * config["limit_s"])
            tune.report({"loss": float(t)})

    analysis = tune.run(
        tune.with_resources(nap, {"cpu": 1}, ray=True), config={"folder": str(tmp_path), "limit_s": limit_s},
        engine=engine(), storage_path=str(tmp_path), metric="loss", mode="min", verbose=0, raise_on_failed_trial=False,
        trial_limits={"time_s": limit_s}, max_failures=1,
    )  # fmt: skip
    (trial,) = analysis.trials
    assert trial.status == "ERROR"
    assert f"limit {limit_s} s" in str(trial.error)
    # the second attempt had a fifth of the limit left, and time to be ended; steps that take longer are fewer
    assert trial.last_result.get("loss", 0.0) < 80


def test_one_script_finds_the_same_on_one_machine_and_on_three_nodes(
    nodes: Any, engine: Any, tmp_path: Path
) -> None:
    import numpy as np

    def score(config: dict[str, Any], data: Any) -> None:
        for t in range(5):
            tune.report({"loss": float(data[t]) * config["x"]})

    def search(where: str, on: Any) -> list[Any]:
        analysis = tune.run(
            tune.with_parameters(score, data=np.arange(100_000.0)), config={"x": tune.uniform(0, 1)},
            num_samples=6, seed=7, engine=on, storage_path=str(tmp_path), name=where, verbose=0,
            metric="loss", mode="min",
        )  # fmt: skip
        found = []
        for trial in analysis.trials:
            file = Path(analysis.experiment_path, trial.trial_id, "result.json")
            losses = [json.loads(line)["loss"] for line in file.read_text().splitlines()]
            found.append((trial.trial_id, trial.config, losses))
        return sorted(found, key=lambda one: one[0])

    alone = search("alone", "local")
    assert search("one", engine()) == alone
    nodes.add_all({"num_cpus": 1}, {"num_cpus": 1})
    nodes.wait()
    assert search("three", engine()) == alone


SCRIPT = """
import os, sys, time
from overtone import tune

class Steps(tune.Trainable):
    def setup(self, config):
        self.n = 0
    def step(self):
        time.sleep(0.05)
        self.n += 1
        return {"n": self.n, "loss": -self.n, "pid": os.getpid(), "done": self.n >= 30 and os.path.exists(sys.argv[1] + "/may_end")}
    def save_checkpoint(self, folder):
        open(folder + "/n", "w").write(str(self.n))
    def load_checkpoint(self, folder):
        self.n = int(open(folder + "/n").read())

tune.run(Steps, num_samples=2, checkpoint_freq=5, metric="loss", mode="min", name="killed",
         storage_path=sys.argv[1], verbose=0, resume="AUTO", resources_per_trial={"cpu": 0.5})
"""


def test_a_driver_that_was_killed_is_resumed(cluster: Any, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    command = [sys.executable, str(script), str(tmp_path)]
    journal = tmp_path / "killed" / "journal.jsonl"
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as driver:
        deadline = time.monotonic() + 300
        while sum(file.read_bytes().count(b"\n") > 8 for file in journal.parent.glob("*/result.json")) < 2:
            assert time.monotonic() < deadline
            assert driver.poll() is None
            time.sleep(0.05)
        driver.send_signal(signal.SIGKILL)
    pids = {
        json.loads(line)["pid"]
        for file in journal.parent.glob("*/result.json")
        for line in file.read_text().splitlines()
    }
    assert len(pids) == 2
    assert all(is_gone(pid, within_s=60) for pid in pids)
    (tmp_path / "may_end").touch()
    subprocess.run(command, env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL)
    files = list(journal.parent.glob("*/result.json"))
    assert len(files) == 2
    for file in files:
        found = [json.loads(line)["n"] for line in file.read_text().splitlines()]
        assert found == list(range(1, max(30, len(found)) + 1))


SAVES = """
import sys, time
from overtone import tune
from overtone.engines.local.on_node import LocalOnNodes
from overtone.engines.ray import Ray

class Saves(tune.Trainable):
    def step(self):
        return {"loss": 0}
    def save_checkpoint(self, folder):
        open(folder + "/half", "w").write("1")
        open(sys.argv[1] + "/saving", "w").close()
        time.sleep(3600)

tune.run(Saves, checkpoint_freq=1, metric="loss", mode="min", storage_path=sys.argv[1], verbose=0,
         engine=Ray(LocalOnNodes(), carries=True), resources_per_trial={"cpu": 0.5})
"""


@pytest.mark.full
def test_what_a_killed_driver_has_half_saved_on_nodes_is_gone_with_the_next_run(
    cluster: Any, engine: Any, until: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, temporary = tmp_path / "script.py", tmp_path / "temporary"
    script.write_text(SAVES)
    temporary.mkdir()
    environment = {**os.environ, "RAY_ADDRESS": cluster.address, "TMPDIR": str(temporary)}
    command = [sys.executable, str(script), str(tmp_path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as driver:
        deadline = time.monotonic() + 300
        while not (tmp_path / "saving").exists():
            assert time.monotonic() < deadline
            assert driver.poll() is None
            time.sleep(0.05)
        (half,) = temporary.rglob("half")
        driver.send_signal(signal.SIGKILL)
    home = temporary.joinpath(*half.relative_to(temporary).parts[:2])

    def is_let_go() -> bool:
        try:
            lock = held_folders.try_lock(home)
        except FileNotFoundError:
            return True  # the agent has deleted it: Ray leaves it 0.1 s for that
        if lock >= 0:
            os.close(lock)
        return lock >= 0

    until(is_let_go)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    tune.run(
        lambda config: tune.report({"loss": 0.0}), engine=engine(carries=True), storage_path=str(tmp_path),
        metric="loss", mode="min", verbose=0,
    )  # fmt: skip
    assert list(temporary.rglob("half")) == []


def test_the_readmes_listing_for_a_cluster(cluster: Any, nodes: Any, tmp_path: Path) -> None:
    pages = [(ROOT / page).read_text("utf-8") for page in ("README.md", "README.zh-CN.md")]
    listings = [re.findall(r"```python\n(import ray\n.*?)```", page, re.DOTALL) for page in pages]
    ((listing,), (again,)) = listings
    assert listing == again
    assert len([line for line in listing.splitlines() if line.strip()]) <= 9
    nodes.add(num_cpus=1)
    script = tmp_path / "script.py"
    script.write_text(listing, "utf-8")
    said = _run(script, cluster.address, tmp_path)
    assert "running on the Ray engine: 2 nodes" in said
    (journal,) = tmp_path.glob("overtone_results/train_*/journal.jsonl")
    assert journal.read_text("utf-8").count('"e":"reported"') == 1000


def _run(script: Path, address: str, home: Path) -> str:
    """What a script printed that ended well."""
    environment = {**os.environ, "RAY_ADDRESS": address, "HOME": str(home)}
    token = Path.home() / ".ray" / "auth_token"  # Ray wants one wherever the cluster had one
    if token.exists():
        environment["RAY_AUTH_TOKEN_PATH"] = str(token)
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
