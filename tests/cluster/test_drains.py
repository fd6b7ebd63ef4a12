"""Ray drains a node: trials save, leave it, and continue elsewhere before it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")

DEADLINE_S = 900  # a test ends the node as soon as its trials have left


class Steps(tune.Trainable):
    """Counts, slowly, until it may end, and can save."""

    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        import time

        time.sleep(0.1)
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": may_end(self.config)}

    def save_checkpoint(self, folder: str) -> None:
        Path(folder, "n").write_text(str(self.n))

    def load_checkpoint(self, folder: str) -> None:
        self.n = int(Path(folder, "n").read_text())


def counts(config: dict[str, Any]) -> None:
    """Like `Steps`, and cannot save."""
    import time

    n, is_last = 0, False
    while not is_last:
        time.sleep(0.1)
        n, is_last = n + 1, may_end(config)
        tune.report({"n": n, "loss": -n})


def may_end(config: dict[str, Any]) -> bool:
    return Path(config["may_end"]).exists()


def begin(engine: Any, seen: Any, folder: Path, trainable: Any, uses_ray: bool, **config: Any) -> Any:
    """Start two trials in the background, which fit on nodes with "spot" only."""
    return tune.start(
        tune.with_resources(trainable, {"cpu": 1, "spot": 1}, ray=uses_ray), engine=engine, callbacks=[seen],
        config={"may_end": str(folder / "may_end"), **config}, num_samples=1 if config else 2,
        storage_path=str(folder), name="drains", metric="loss", mode="min", verbose=0, checkpoint_freq=0,
    )  # fmt: skip


def drain(nodes: Any, node: Any) -> None:
    """Drain a node as an operator does. Ray ends nothing by itself at the deadline."""
    command = [
        str(Path(sys.executable).with_name("ray")), "drain-node", "--address", nodes.cluster.address,
        "--node-id", node.node_id, "--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "a spot machine",
        "--deadline-remaining-seconds", str(DEADLINE_S),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def attempts_on(seen: Any, name: str) -> set[tuple[str, int]]:
    return {(event.trial_id, event.attempt) for event in seen.of(m.Started) if event.node == name}


def both_have_reported(events: list[Any]) -> bool:
    return len({event.trial_id for event in events if type(event) is m.Reported and event.t > 2}) == 2


def both_have_left(events: list[Any]) -> bool:
    return sum(type(event) is m.Ended and event.cause == "halted" for event in events) == 2


def both_run_again(events: list[Any]) -> bool:
    return sum(type(event) is m.Started and event.attempt == 1 for event in events) == 2


@pytest.mark.parametrize("uses_ray", [False, pytest.param(True, marks=pytest.mark.full)], ids=["forked", "actor"])
def test_trials_of_a_drained_node_save_and_continue_elsewhere(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    doomed = nodes.add(num_cpus=2, resources={"spot": 2})
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, Steps, uses_ray)
    seen.wait(both_have_reported)
    there = on.names[doomed.node_id]
    nodes.add(num_cpus=2, resources={"spot": 2})
    nodes.wait()
    drain(nodes, doomed)
    seen.wait(both_have_left)
    nodes.kill(doomed)
    seen.wait(both_run_again)
    (tmp_path / "may_end").touch()
    analysis = run.wait(timeout_s=300)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2
    for trial in analysis.trials:
        lines = Path(analysis.experiment_path, trial.trial_id, "result.json").read_text().splitlines()
        assert [json.loads(line)["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert {event.cause for event in seen.of(m.Ended)} == {"halted", "returned"}
    assert attempts_on(seen, there) == {(event.trial_id, 0) for event in seen.of(m.Started)}
    assert all(event.restored is not None for event in seen.of(m.Started) if event.attempt == 1)
    notices = seen.of(m.Noticed)
    assert len(notices) == 2
    assert all(0 < event.grace_s <= DEADLINE_S for event in notices)


def test_a_trial_that_cannot_save_uses_the_time_until_its_node_ends(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    files = [str(tmp_path / name) for name in ("soon", "later")]
    doomed = nodes.add(num_cpus=2, resources={"spot": 2})
    nodes.wait()
    on = engine()
    run = begin(on, seen, tmp_path, counts, False, may_end=tune.grid_search(files))
    seen.wait(both_have_reported)
    there = on.names[doomed.node_id]
    drain(nodes, doomed)
    nodes.add(num_cpus=2, resources={"spot": 2})
    seen.wait(lambda events: sum(type(event) is m.Noticed for event in events) == 2)
    noticed_t = {event.trial_id: event.t for event in seen.of(m.Reported)}

    def both_go_on(events: list[Any]) -> bool:
        reported = {event.trial_id: event.t for event in events if type(event) is m.Reported}
        return all(reported[name] >= t + 5 for name, t in noticed_t.items())

    seen.wait(both_go_on)
    Path(files[0]).touch()
    seen.wait(lambda events: any(type(event) is m.Ended and event.cause == "returned" for event in events))
    nodes.kill(doomed)
    seen.wait(lambda events: any(type(event) is m.Ended and event.cause == "lost" for event in events))
    Path(files[1]).touch()
    analysis = run.wait(timeout_s=300)
    assert {trial.status for trial in analysis.trials} == {"TERMINATED"}
    assert {attempt for _, attempt in attempts_on(seen, there)} == {0}
    causes = {event.trial_id: event.cause for event in seen.of(m.Ended) if event.attempt == 0}
    assert [causes[trial.trial_id] for trial in analysis.trials] == ["returned", "lost"]


@pytest.mark.full
def test_a_node_that_gets_a_sigterm_is_drained_by_ray(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path
) -> None:
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--block", "--address", cluster.address, "--num-cpus=2",
        "--node-ip-address=127.0.0.1", "--object-store-memory=80000000", f"--resources={json.dumps({'spot': 2})}",
    ]  # fmt: skip
    environment = {**os.environ, "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": str(DEADLINE_S)}  # Ray's own is 30 s
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) as node:
        try:
            run = begin(engine(), seen, tmp_path, Steps, False)
            seen.wait(both_have_reported)
            node.terminate()  # as from Kubernetes
            seen.wait(both_have_left)
            run.stop()
            run.wait(timeout_s=300)
        finally:
            node.wait(300)
    assert len(seen.of(m.Noticed)) == len(seen.of(m.Saved)) == 2
