"""Ray drains a node: trials save, leave it, and continue elsewhere before it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")

DEADLINE_S = 25


class Steps(tune.Trainable):
    """Counts, slowly, and can save."""

    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        import time

        time.sleep(0.2)
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": self.n >= self.config["steps"]}

    def save_checkpoint(self, folder: str) -> None:
        Path(folder, "n").write_text(str(self.n))

    def load_checkpoint(self, folder: str) -> None:
        self.n = int(Path(folder, "n").read_text())


def begin(engine: Any, seen: Any, folder: Path, trainable: Any, uses_ray: bool, **options: Any) -> Any:
    """Start a search in the background, whose trials fit on nodes with "spot" only."""
    return tune.start(
        tune.with_resources(trainable, {"cpu": 1, "spot": 1}, ray=uses_ray), engine=engine, callbacks=[seen],
        storage_path=str(folder), name="drains", metric="loss", mode="min", verbose=0, checkpoint_freq=0, **options,
    )  # fmt: skip


def drain(nodes: Any, node: Any) -> float:
    """Drain a node as an operator does; when it is to end, on the monotonic clock."""
    command = [
        str(Path(sys.executable).with_name("ray")), "drain-node", "--address", nodes.cluster.address,
        "--node-id", node.node_id, "--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "a spot machine",
        "--deadline-remaining-seconds", str(DEADLINE_S),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return time.monotonic() + DEADLINE_S


def end(nodes: Any, node: Any, ends_at: float) -> None:
    """End a node at its deadline: Ray ends nothing by itself."""
    while time.monotonic() < ends_at:
        time.sleep(0.1)
    nodes.kill(node)


def attempts_on(seen: Any, name: str) -> set[tuple[str, int]]:
    return {(event.trial_id, event.attempt) for event in seen.of(m.Started) if event.node == name}


def both_have_reported(events: list[Any]) -> bool:
    return len({event.trial_id for event in events if type(event) is m.Reported and event.t > 2}) == 2


@pytest.mark.parametrize("uses_ray", [False, True], ids=["forked", "actor"])
def test_trials_of_a_drained_node_save_and_continue_elsewhere(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    doomed = nodes.add(num_cpus=2, resources={"spot": 2})
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, Steps, uses_ray, num_samples=2, config={"steps": 200})
    seen.wait(both_have_reported)
    there = on.names[doomed.node_id]
    nodes.add(num_cpus=2, resources={"spot": 2})
    nodes.wait()
    ends_at = drain(nodes, doomed)

    def have_left(events: list[Any]) -> bool:
        return sum(type(event) is m.Ended and event.cause == "halted" for event in events) == 2

    seen.wait(have_left, ends_at - time.monotonic())

    def have_moved(events: list[Any]) -> bool:
        again = [event for event in events if type(event) is m.Started and event.attempt == 1]
        return len(again) == 2 and all(event.restored is not None and event.node != there for event in again)

    end(nodes, doomed, ends_at)
    seen.wait(have_moved)
    analysis = run.wait(timeout_s=90)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2
    for trial in analysis.trials:
        lines = Path(analysis.experiment_path, trial.trial_id, "result.json").read_text().splitlines()
        assert [json.loads(line)["n"] for line in lines] == list(range(1, 201))
    assert {event.cause for event in seen.of(m.Ended)} == {"halted", "returned"}
    assert attempts_on(seen, there) == {(event.trial_id, 0) for event in seen.of(m.Started)}
    notices = seen.of(m.Noticed)
    assert len(notices) == 2
    assert all(0 < event.grace_s <= DEADLINE_S for event in notices)


def test_a_trial_that_cannot_save_uses_the_time_until_its_node_ends(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    def counts(config: dict[str, Any]) -> None:
        import time

        for n in range(1, config["steps"] + 1):
            time.sleep(0.1)
            tune.report({"n": n, "loss": -n})

    doomed = nodes.add(num_cpus=2, resources={"spot": 2})
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, counts, False, config={"steps": tune.grid_search([60, 400])})
    seen.wait(both_have_reported)
    there = on.names[doomed.node_id]
    ends_at = drain(nodes, doomed)
    nodes.add(num_cpus=2, resources={"spot": 2})
    end(nodes, doomed, ends_at)
    analysis = run.wait(timeout_s=90)
    assert {trial.status for trial in analysis.trials} == {"TERMINATED"}
    assert {attempt for _, attempt in attempts_on(seen, there)} == {0}
    causes = {event.trial_id: event.cause for event in seen.of(m.Ended) if event.attempt == 0}
    assert [causes[trial.trial_id] for trial in analysis.trials] == ["returned", "lost"]


def test_a_node_that_gets_a_sigterm_is_drained_by_ray(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--block", "--address", cluster.address, "--num-cpus=2",
        "--node-ip-address=127.0.0.1", "--object-store-memory=80000000", f"--resources={json.dumps({'spot': 2})}",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as node:
        try:
            run = begin(engine(), seen, tmp_path, Steps, False, num_samples=2, config={"steps": 100000})
            seen.wait(both_have_reported)
            node.terminate()  # as from Kubernetes

            def have_left(events: list[Any]) -> bool:
                return sum(type(event) is m.Ended and event.cause == "halted" for event in events) == 2

            seen.wait(have_left)
            run.stop()
            run.wait(timeout_s=60)
        finally:
            node.wait(60)
    assert len(seen.of(m.Noticed)) == len(seen.of(m.Saved)) == 2
