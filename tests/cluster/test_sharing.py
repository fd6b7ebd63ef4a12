"""Runs that share a cluster: with limits, on some nodes only, with priorities, each in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.errors import OvertoneError, ResourceError

pytestmark = pytest.mark.filterwarnings("default")


def nap(config: dict[str, Any]) -> None:

    time.sleep(config["s"])
    tune.report({"loss": 0.0})


def search(engine: Any, seen: Any, folder: Path, **options: Any) -> Any:
    defaults = {"metric": "loss", "mode": "min", "verbose": 0, "name": "shares"}
    return tune.start(
        nap, engine=engine, callbacks=[seen], storage_path=str(folder), **{**defaults, **options}
    )


def most_at_once(events: list[Any]) -> int:
    running, most = 0, 0
    for event in events:
        running += (type(event) is m.Started) - (type(event) is m.Ended)
        most = max(most, running)
    return most


def test_a_run_keeps_to_its_limit_and_to_nodes_with_its_labels(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    vision = nodes.add(num_cpus=4, num_gpus=4, labels={"team": "vision", "disk": "fast"})
    nodes.add(num_cpus=4, num_gpus=4, labels={"team": "speech"})
    nodes.wait()
    on = engine(max_resources={"gpu": 2}, labels={"team": "vision"})
    run = search(
        on, seen, tmp_path, config={"s": 0.3}, num_samples=5, resources_per_trial={"cpu": 1, "gpu": 1}
    )
    seen.wait(lambda events: any(type(event) is m.Started for event in events))
    name = on.names[vision.node_id]
    analysis = run.wait(timeout_s=60)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 5
    assert {event.node for event in seen.of(m.Started)} == {name}
    assert most_at_once(seen.events) == 2


def test_labels_that_no_node_has_are_named(cluster: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    run = search(engine(labels={"team": "none"}), seen, tmp_path, config={"s": 0.0}, num_samples=1)
    with pytest.raises(OvertoneError, match="no node of the cluster has the labels {'team': 'none'}"):
        run.wait(timeout_s=30)


def test_a_run_waits_no_longer_than_it_should_for_what_no_node_has(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    on = engine(resource_timeout_s=1)
    run = search(on, seen, tmp_path, config={"s": 0.0}, resources_per_trial={"cpu": 1, "license": 1})
    with pytest.raises(ResourceError, match="waiting for cpu 1, license 1: no node has that now, for 1 s"):
        run.wait(timeout_s=30)


def test_one_of_lower_priority_makes_room(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    nodes.add(num_cpus=2)
    nodes.wait()
    low = search(
        engine(),
        seen,
        tmp_path,
        name="low",
        config={"s": 0.5},
        num_samples=200,
        resources_per_trial={"cpu": 1},
    )
    seen.wait(lambda events: sum(type(event) is m.Ended for event in events) >= 3)
    later = type(seen)()
    high = search(
        engine(priority=1), later, tmp_path, name="high", config={"s": 0.5}, num_samples=6,
        resources_per_trial={"cpu": 1},
    )  # fmt: skip
    analysis = high.wait(timeout_s=60)
    assert high.done
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 6
    assert most_at_once(later.events) == 3
    n_ended = len(seen.of(m.Ended))
    assert not low.done
    seen.wait(lambda events: sum(type(event) is m.Ended for event in events) >= n_ended + 6)
    assert {event.cause for event in seen.of(m.Ended)} == {"returned"}
    low.stop()
    low.wait(timeout_s=30)


def test_gangs_of_two_runs_do_not_wait_for_each_other(nodes: Any, engine: Any, tmp_path: Path) -> None:
    for _ in range(2):
        nodes.add(num_cpus=1)  # three bundles fit: a gang and a half
    nodes.wait()
    gang = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}], strategy="STRICT_SPREAD")
    runs = [
        tune.start(
            nap, config={"s": 0.2}, num_samples=3, resources_per_trial=gang, engine=engine(), verbose=0,
            storage_path=str(tmp_path), name=name, metric="loss", mode="min",
        )
        for name in ("one", "other")
    ]  # fmt: skip
    for run in runs:
        assert [trial.status for trial in run.wait(timeout_s=80).trials] == ["TERMINATED"] * 3


SCRIPT = """
import json, os, sys
from overtone import tune

def train(config):
    import flavours
    tune.report(loss=0.0, flavour=flavours.found())

env = {"working_dir": sys.argv[2], "env_vars": {"FLAVOUR": "umami"}}
analysis = tune.run(train, engine=tune.ray_cluster(runtime_env=env), storage_path=sys.argv[1], metric="loss", mode="min")
print("found", [trial.last_result["flavour"] for trial in analysis.trials])
"""


def test_trials_run_in_the_environment_of_the_run(cluster: Any, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "flavours.py").write_text("import os\n\ndef found():\n    return os.environ['FLAVOUR']\n")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    command = [sys.executable, str(script), str(tmp_path / "results"), str(work)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "found ['umami']" in done.stdout


def test_an_environment_comes_too_late_where_ray_is_there(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    run = search(engine(runtime_env={"env_vars": {"A": "1"}}), seen, tmp_path, config={"s": 0.0})
    with pytest.raises(OvertoneError, match="Ray is initialised in this process already"):
        run.wait(timeout_s=30)
