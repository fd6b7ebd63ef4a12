"""Nodes are killed at the worst moments: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")


class Slow(tune.Trainable):
    """Counts, until it may end; saving and loading take as long as it is told."""

    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        import time

        time.sleep(self.config["step_s"])
        self.n += 1
        may_end = Path(self.config["folder"], "may_end").exists()
        return {"n": self.n, "loss": -self.n, "done": may_end and self.n >= self.config["steps"]}

    def save_checkpoint(self, folder: str) -> None:
        import time

        Path(folder, "n").write_text(str(self.n))
        time.sleep(self.config["save_s"])
        Path(folder, "whole").touch()

    def load_checkpoint(self, folder: str) -> None:
        import time

        Path(self.config["folder"], "loads").touch()
        time.sleep(self.config["load_s"])
        assert Path(folder, "whole").exists()
        self.n = int(Path(folder, "n").read_text())


def begin(engine: Any, seen: Any, folder: Path, config: dict[str, Any], **options: Any) -> Any:
    defaults = {"steps": 20, "step_s": 0.05, "save_s": 0.0, "load_s": 0.0, "folder": str(folder)}
    return tune.start(
        Slow, config={**defaults, **config}, engine=engine, callbacks=[seen], storage_path=str(folder),
        name="loss", verbose=0, metric="loss", mode="min", **{"resources_per_trial": {"cpu": 1}, **options},
    )  # fmt: skip


def is_loss(event: Any) -> bool:
    return type(event) is m.Ended and event.cause == "lost"


def check(run: Any, seen: Any, folder: Path, count: int, steps: int) -> None:
    """Let the trials end, and check that each has its results once."""
    (folder / "may_end").touch()
    analysis = run.wait(timeout_s=300)
    assert run.done
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * count
    for trial in analysis.trials:
        file = Path(analysis.experiment_path, trial.trial_id, "result.json")
        found = [json.loads(line)["n"] for line in file.read_text().splitlines()]
        assert found == list(range(1, max(len(found), steps) + 1))
    assert {event.cause for event in seen.of(m.Ended)} <= {"returned", "halted", "lost"}


def all_have_saved(events: list[Any], count: int) -> bool:
    return len({event.trial_id for event in events if type(event) is m.Reported and event.t > 3}) == count


def test_lost_while_saving(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    doomed, _ = nodes.add_all({"num_cpus": 2}, {"num_cpus": 1})
    nodes.wait()
    config = {"save_s": 0.4, "steps": 10}
    run = begin(engine(carries=True), seen, tmp_path, config, num_samples=4, checkpoint_freq=2)
    seen.wait(lambda events: all_have_saved(events, 4))
    nodes.kill(doomed)
    seen.wait(lambda events: any(map(is_loss, events)))
    check(run, seen, tmp_path, 4, 10)


@pytest.mark.full
def test_lost_while_restoring(nodes: Any, engine: Any, seen: Any, until: Any, tmp_path: Path) -> None:
    spot = {"num_cpus": 2, "resources": {"spot": 2}}
    first = nodes.add(**spot)
    nodes.wait()
    run = begin(
        engine(carries=True), seen, tmp_path, {"load_s": 1.0, "steps": 10}, num_samples=2, checkpoint_freq=2,
        resources_per_trial={"cpu": 1, "spot": 1},
    )  # fmt: skip
    seen.wait(lambda events: all_have_saved(events, 2))
    second = nodes.add(**spot)
    nodes.wait()
    nodes.kill(first)
    until((tmp_path / "loads").exists)
    nodes.kill(second)
    seen.wait(lambda events: sum(map(is_loss, events)) >= 3)
    nodes.add(**spot)
    check(run, seen, tmp_path, 2, 10)


@pytest.mark.full
def test_two_nodes_at_once_and_the_head_alone_is_left(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    doomed = nodes.add_all({"num_cpus": 1}, {"num_cpus": 1})
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, {"steps": 10}, num_samples=3, checkpoint_freq=5)
    seen.wait(lambda events: len({event.node for event in events if type(event) is m.Started}) == 3)
    for node in doomed:
        nodes.kill(node)
    seen.wait(lambda events: sum(map(is_loss, events)) >= 2)
    check(run, seen, tmp_path, 3, 10)


@pytest.mark.full
def test_many_trials_while_nodes_come_and_go(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    chance, losses = random.Random(3), pytestconfig.getoption("losses")
    count = 40 * (losses + 1)
    nodes.add_all({"num_cpus": 2}, {"num_cpus": 2})
    nodes.wait()
    (tmp_path / "may_end").touch()
    run = begin(
        engine(), seen, tmp_path, {"steps": 5, "step_s": 0.02}, num_samples=count, checkpoint_freq=2,
        reuse_actors=True,
    )  # fmt: skip
    for loss in range(1, losses + 1):
        seen.wait(lambda events, n=40 * loss: sum(type(event) is m.Ended for event in events) >= n)
        nodes.kill(chance.choice(nodes.added))
        nodes.add(num_cpus=2)
    check(run, seen, tmp_path, count, 5)


def freeze(node: Any) -> None:
    """End all that runs on a node, which Ray counts as alive until health checks have failed."""
    import psutil

    (raylet,) = [psutil.Process(one.process.pid) for one in node.all_processes["raylet"]]
    raylet.suspend()
    for process in raylet.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.full
def test_no_trial_is_placed_again_on_a_node_that_is_dead(
    nodes: Any, engine: Any, seen: Any, until: Any, tmp_path: Path
) -> None:
    import ray

    doomed, _ = nodes.add_all({"num_cpus": 4}, {"num_cpus": 4})
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, {"steps": 10, "step_s": 0.1}, num_samples=8, checkpoint_freq=5)
    seen.wait(lambda events: len({event.trial_id for event in events if type(event) is m.Reported}) == 8)
    name = on.names[doomed.node_id]
    freeze(doomed)
    until(lambda: any(one["NodeID"] == doomed.node_id and not one["Alive"] for one in ray.nodes()))
    check(run, seen, tmp_path, 8, 10)
    losses = [event.trial_id for event in seen.of(m.Ended) if event.cause == "lost"]
    assert len(losses) == len(set(losses)) <= 5
    assert {event.attempt for event in seen.of(m.Started) if event.node == name} == {0}
