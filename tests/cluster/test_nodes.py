"""Nodes are lost and join while trials run: nothing is lost, and nothing is counted as a failure."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")


class Steps(tune.Trainable):
    """Counts, slowly, and can save."""

    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        import time

        time.sleep(self.config.get("step_s", 0.05))
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": self.n >= self.config["steps"]}

    def save_checkpoint(self, folder: str) -> None:
        import time

        Path(folder, "n.json").write_text(json.dumps(self.n))
        time.sleep(self.config.get("save_s", 0))

    def load_checkpoint(self, folder: str) -> None:
        import time

        time.sleep(self.config.get("load_s", 0))
        self.n = json.loads(Path(folder, "n.json").read_text())


def search(engine: Any, seen: Any, folder: Path, **options: Any) -> Any:
    """A search in the background."""
    arguments: dict[str, Any] = {
        "config": {"steps": 40},
        "num_samples": 4,
        "checkpoint_freq": 5,
        "metric": "loss",
        "mode": "min",
        "resources_per_trial": {"cpu": 1},
        **options,
    }
    return tune.start(
        arguments.pop("trainable", Steps), engine=engine, callbacks=[seen], storage_path=str(folder),
        name="cluster", **{"verbose": 0, **arguments},
    )  # fmt: skip


def reports(seen: Any, trial_id: str) -> list[int]:
    return [event.metrics["n"] for event in seen.of(m.Reported) if event.trial_id == trial_id]


def check_whole(analysis: Any, seen: Any, count: int, steps: int) -> None:
    """Every trial has ended as it should, with each result once in its file."""
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * count
    for trial in analysis.trials:
        assert max(reports(seen, trial.trial_id)) == steps
    files = list(Path(analysis.experiment_path).glob("*/result.json"))
    assert len(files) == count
    for file in files:
        found = [json.loads(line)["n"] for line in file.read_text().splitlines()]
        assert found == list(range(1, steps + 1))


@pytest.mark.parametrize("carries", [False, True], ids=["shared disk", "no shared disk"])
def test_trials_of_a_lost_node_go_on_elsewhere(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, carries: bool
) -> None:
    doomed = nodes.add(num_cpus=2)
    nodes.add(num_cpus=2)
    nodes.wait()
    on = engine(carries=carries)
    run = search(on, seen, tmp_path, num_samples=5, config={"steps": 80})

    def on_doomed(events: list[Any]) -> set[str]:
        name = on.names.get(doomed.node_id)
        here = {event.trial_id for event in events if type(event) is m.Started and event.node == name}
        far = {event.trial_id for event in events if type(event) is m.Reported and event.t >= 12}
        return here & far if len(here & far) == 2 else set()

    there = seen.wait(on_doomed)
    nodes.kill(doomed)
    analysis = run.wait(timeout_s=90)
    check_whole(analysis, seen, 5, 80)
    lost = {event.trial_id for event in seen.of(m.Ended) if event.cause == "lost"}
    assert there <= lost
    again = [event for event in seen.of(m.Started) if event.trial_id in there and event.attempt > 0]
    assert again
    assert all(event.restored is not None and event.restored.t >= 10 for event in again)


def time_to_act(node: Any) -> float:
    """How long Ray takes to start an actor on a node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    @ray.remote(num_cpus=0)
    class Actor:
        def answer(self) -> None: ...

    began = time.monotonic()
    there = NodeAffinitySchedulingStrategy(node.node_id, soft=False)
    ray.get(Actor.options(scheduling_strategy=there).remote().answer.remote())  # type: ignore[attr-defined]
    return time.monotonic() - began


def test_a_node_that_joins_is_used(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    on = engine()
    run = search(on, seen, tmp_path, num_samples=12, config={"steps": 60})
    seen.wait(lambda events: any(type(event) is m.Reported for event in events))
    node = nodes.add(num_cpus=2)
    nodes.wait()
    joined = time.monotonic()
    seen.wait(lambda events: any(
        type(event) is m.Started and event.node == on.names.get(node.node_id) for event in events
    ))  # fmt: skip
    took = time.monotonic() - joined
    check_whole(run.wait(timeout_s=90), seen, 12, 60)
    plain = time_to_act(node)
    # five seconds where Ray starts an actor in one: where other work slows that down, this is slower too
    assert took < 5 * max(1.0, plain), f"{took:.1f} s, and an actor of Ray's alone {plain:.1f} s"


def test_trials_wait_for_a_resource_that_comes(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    def sees(config: dict[str, Any]) -> None:
        import os

        tune.report({"loss": 0.0, "gpus": os.environ.get("CUDA_VISIBLE_DEVICES")})

    run = search(
        engine(), seen, tmp_path, trainable=sees, num_samples=2, config={},
        resources_per_trial={"cpu": 1, "gpu": 1}, checkpoint_freq=0,
    )  # fmt: skip
    seen.wait(lambda events: any(type(event) is m.Suggested for event in events))
    nodes.add(num_cpus=2, num_gpus=2)
    analysis = run.wait(timeout_s=90)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2
    assert {event.metrics["gpus"] for event in seen.of(m.Reported)} == {"0", "1"}


def test_trials_of_the_only_node_with_gpus_wait_for_another(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    class Blocks(tune.CLIReporter):
        """Keeps the status blocks."""

        def should_report(self, trials: Any, done: bool = False) -> bool:
            return True

        def report(self, trials: Any, done: bool, *sys_info: str) -> None:
            blocks.append(self._progress_str(trials, done, *sys_info))

    blocks: list[str] = []
    doomed = nodes.add(num_cpus=2, num_gpus=2)
    nodes.wait()
    run = search(
        engine(), seen, tmp_path, num_samples=2, config={"steps": 80}, verbose=1, progress_reporter=Blocks(),
        resources_per_trial={"cpu": 1, "gpu": 1},
    )  # fmt: skip
    seen.wait(lambda events: any(type(event) is m.Reported and event.t >= 12 for event in events))
    assert "waiting for" not in blocks[-1]
    nodes.kill(doomed)
    seen.wait(lambda events: any(type(event) is m.Ended and event.cause == "lost" for event in events))
    time.sleep(1.5)
    assert not run.done
    joined = nodes.add(num_cpus=2, num_gpus=2)
    check_whole(run.wait(timeout_s=90), seen, 2, 80)
    assert any("waiting for cpu 1, gpu 1: no node has that now" in block for block in blocks)
    assert "waiting for" not in blocks[-1]
    assert joined in nodes.added
    assert any(event.restored is not None for event in seen.of(m.Started))


def test_a_gang_that_loses_a_member_runs_again(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    nodes.add(num_cpus=1)
    first = nodes.add(num_cpus=1)
    nodes.wait()
    on = engine()
    gang = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}, {"CPU": 1}], strategy="STRICT_SPREAD")
    run = search(on, seen, tmp_path, num_samples=1, resources_per_trial=gang, config={"steps": 150})
    seen.wait(lambda events: any(type(event) is m.Reported and event.t >= 12 for event in events))
    starts = seen.of(m.Started)
    doomed = next(one for one in [first, *nodes.added] if on.names[one.node_id] != starts[0].node)
    nodes.kill(doomed)
    seen.wait(lambda events: any(type(event) is m.Ended and event.cause == "lost" for event in events))
    assert not run.done
    nodes.add(num_cpus=1)
    check_whole(run.wait(timeout_s=90), seen, 1, 150)
    assert seen.of(m.Started)[-1].restored is not None
