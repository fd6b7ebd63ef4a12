"""Nodes are killed at the worst moments: nothing is lost, nothing is doubled."""

from __future__ import annotations

import json
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")


class Slow(tune.Trainable):
    """Counts; saving and loading take as long as it is told."""

    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        import time

        time.sleep(self.config["step_s"])
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": self.n >= self.config["steps"]}

    def save_checkpoint(self, folder: str) -> None:
        import time

        Path(folder, "n").write_text(str(self.n))
        time.sleep(self.config["save_s"])
        Path(folder, "whole").touch()

    def load_checkpoint(self, folder: str) -> None:
        import time

        time.sleep(self.config["load_s"])
        assert Path(folder, "whole").exists()
        self.n = int(Path(folder, "n").read_text())


def begin(engine: Any, seen: Any, folder: Path, config: dict[str, Any], **options: Any) -> Any:
    defaults = {"steps": 20, "step_s": 0.05, "save_s": 0.0, "load_s": 0.0}
    return tune.start(
        Slow, config={**defaults, **config}, engine=engine, callbacks=[seen], storage_path=str(folder),
        name="loss", verbose=0, metric="loss", mode="min", resources_per_trial={"cpu": 1}, **options,
    )  # fmt: skip


def check(run: Any, seen: Any, count: int, steps: int, within_s: float = 100) -> None:
    analysis = run.wait(timeout_s=within_s)
    assert run.done
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * count
    for trial in analysis.trials:
        file = Path(analysis.experiment_path, trial.trial_id, "result.json")
        assert [json.loads(line)["n"] for line in file.read_text().splitlines()] == list(range(1, steps + 1))
    assert {event.cause for event in seen.of(m.Ended)} <= {"returned", "halted", "lost"}


@pytest.mark.parametrize(
    "config", [{"save_s": 0.4}, {"load_s": 0.4, "save_s": 0.1}], ids=["saving", "restoring"]
)
def test_lost_while(nodes: Any, engine: Any, seen: Any, tmp_path: Path, config: dict[str, Any]) -> None:
    doomed = [nodes.add(num_cpus=2), nodes.add(num_cpus=1)]
    nodes.wait()
    run = begin(
        engine(carries=True), seen, tmp_path, {**config, "steps": 60}, num_samples=4, checkpoint_freq=2
    )
    seen.wait(
        lambda events: (
            len({event.trial_id for event in events if type(event) is m.Reported and event.t > 3}) == 4
        )
    )
    nodes.kill(doomed[0])
    if "load_s" in config:
        seen.wait(lambda events: any(type(event) is m.Ended and event.cause == "lost" for event in events))
        time.sleep(0.5)  # in the middle of a load, or close to it: either must do
        nodes.kill(doomed[1])
    check(run, seen, 4, 60)


def test_two_nodes_at_once_and_the_head_alone_is_left(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    doomed = [nodes.add(num_cpus=1), nodes.add(num_cpus=1)]
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, {"steps": 40}, num_samples=3, checkpoint_freq=5)
    seen.wait(lambda events: len({event.node for event in events if type(event) is m.Started}) == 3)
    for node in doomed:
        nodes.kill(node)
    check(run, seen, 3, 40)


def test_many_trials_while_nodes_come_and_go(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(2):
        nodes.add(num_cpus=2)
    nodes.wait()
    run = begin(
        engine(),
        seen,
        tmp_path,
        {"steps": 5, "step_s": 0.02},
        num_samples=500,
        checkpoint_freq=2,
        reuse_actors=True,
    )
    seen.wait(lambda events: any(type(event) is m.Reported for event in events))
    give_up_at = time.monotonic() + 60
    losses = 0
    while not run.done and time.monotonic() < give_up_at:
        time.sleep(chance.uniform(0.5, 2.0))
        if len(nodes.added) > 1:
            nodes.kill(chance.choice(nodes.added))
            losses += 1
        else:
            nodes.add(num_cpus=2)
            nodes.wait()
    assert losses >= 2
    check(run, seen, 500, 5, within_s=60)


def freeze(node: Any) -> None:
    """End all that runs on a node, which Ray counts as alive until health checks have failed."""
    import psutil

    (raylet,) = [psutil.Process(one.process.pid) for one in node.all_processes["raylet"]]
    raylet.suspend()
    for process in raylet.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def test_no_trial_is_placed_again_on_a_node_that_is_dead(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    doomed = nodes.add(num_cpus=4)
    nodes.add(num_cpus=4)
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, {"steps": 60, "step_s": 0.1}, num_samples=8, checkpoint_freq=5)
    seen.wait(lambda events: len({event.trial_id for event in events if type(event) is m.Reported}) == 8)
    name = on.names[doomed.node_id]
    freeze(doomed)
    check(run, seen, 8, 60)
    losses = [event.trial_id for event in seen.of(m.Ended) if event.cause == "lost"]
    assert len(losses) == len(set(losses)) <= 5
    assert {event.attempt for event in seen.of(m.Started) if event.node == name} == {0}
