"""Nodes are lost and join while trials run: nothing is lost, and nothing is counted as a failure."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.core import messages as m

pytestmark = pytest.mark.filterwarnings("default")


class Steps(tune.Trainable):
    """Counts, slowly, until it may end, and can save."""

    def setup(self, config: dict[str, Any]) -> None:
        self.n = 0

    def step(self) -> dict[str, Any]:
        import time

        time.sleep(self.config.get("step_s", 0.05))
        self.n += 1
        return {"n": self.n, "loss": -self.n, "done": Path(self.config["folder"], "may_end").exists()}

    def save_checkpoint(self, folder: str) -> None:
        import time

        Path(folder, "n.json").write_text(json.dumps(self.n))
        time.sleep(self.config.get("save_s", 0))

    def load_checkpoint(self, folder: str) -> None:
        import time

        time.sleep(self.config.get("load_s", 0))
        self.n = json.loads(Path(folder, "n.json").read_text())


def says_its_niceness(config: dict[str, Any]) -> None:
    import os

    tune.report({"loss": 0.0, "niceness": os.nice(0)})


def search(engine: Any, seen: Any, folder: Path, **options: Any) -> Any:
    """A search in the background."""
    arguments: dict[str, Any] = {
        "config": {"folder": str(folder)},
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


def is_loss(event: Any) -> bool:
    return type(event) is m.Ended and event.cause == "lost"


def check_whole(run: Any, seen: Any, folder: Path, count: int) -> None:
    """Let the trials end, and check that each has its results once, in its file, too."""
    (folder / "may_end").touch()
    analysis = run.wait(timeout_s=300)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * count
    for trial in analysis.trials:
        file = Path(analysis.experiment_path, trial.trial_id, "result.json")
        found = [json.loads(line)["n"] for line in file.read_text().splitlines()]
        assert found == list(range(1, max(reports(seen, trial.trial_id)) + 1))


@pytest.mark.parametrize("uses_ray", [False, pytest.param(True, marks=pytest.mark.full)], ids=["forked", "actor"])
def test_trials_of_tests_get_as_much_of_a_busy_machine_as_the_tests(
    cluster: Any, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    trainable = tune.with_resources(says_its_niceness, {"cpu": 1}, ray=uses_ray)
    run = search(
        engine(), seen, tmp_path, trainable=trainable, num_samples=1, checkpoint_freq=0, resources_per_trial=None
    )
    (trial,) = run.wait(timeout_s=300).trials
    assert trial.last_result["niceness"] == os.nice(0)


@pytest.mark.parametrize(
    "carries", [pytest.param(False, marks=pytest.mark.full), True], ids=["shared disk", "no shared disk"]
)
def test_trials_of_a_lost_node_go_on_elsewhere(
    nodes: Any, engine: Any, seen: Any, tmp_path: Path, carries: bool
) -> None:
    doomed, _ = nodes.add_all({"num_cpus": 2}, {"num_cpus": 2})
    nodes.wait()
    on = engine(carries=carries)
    run = search(on, seen, tmp_path, num_samples=5)

    def on_doomed(events: list[Any]) -> set[str]:
        name = on.names.get(doomed.node_id)
        here = {event.trial_id for event in events if type(event) is m.Started and event.node == name}
        far = {event.trial_id for event in events if type(event) is m.Reported and event.t >= 12}
        return here & far if len(here & far) == 2 else set()

    there = seen.wait(on_doomed)
    nodes.kill(doomed)
    seen.wait(lambda events: there <= {event.trial_id for event in events if is_loss(event)})
    check_whole(run, seen, tmp_path, 5)
    again = [event for event in seen.of(m.Started) if event.trial_id in there and event.attempt > 0]
    assert again
    assert all(event.restored is not None and event.restored.t >= 10 for event in again)


def test_a_node_that_joins_is_used(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    may_end = tmp_path / "may_end"

    def waits(config: dict[str, Any]) -> None:
        while not may_end.exists():
            time.sleep(0.05)
        tune.report({"loss": 0.0})

    on = engine()
    run = search(on, seen, tmp_path, trainable=waits, num_samples=3, config={}, checkpoint_freq=0)
    seen.wait(lambda events: any(type(event) is m.Started for event in events))
    node = nodes.add(num_cpus=2)

    def are_there(events: list[Any]) -> bool:
        return {event.node for event in events if type(event) is m.Started} >= {on.names.get(node.node_id)}

    seen.wait(are_there)
    seen.wait(lambda events: sum(type(event) is m.Started for event in events) == 3)
    may_end.touch()
    analysis = run.wait(timeout_s=300)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 3


def test_trials_wait_for_a_resource_that_comes(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    def sees(config: dict[str, Any]) -> None:
        import os

        gpus = os.environ.get("CUDA_VISIBLE_DEVICES")
        Path(config["folder"], f"sees-{gpus}").touch()
        while len(list(Path(config["folder"]).glob("sees-*"))) < 2:  # so that both hold theirs at once
            time.sleep(0.05)
        tune.report({"loss": 0.0, "gpus": gpus})

    run = search(
        engine(), seen, tmp_path, trainable=sees, num_samples=2, config={"folder": str(tmp_path)},
        resources_per_trial={"cpu": 1, "gpu": 1}, checkpoint_freq=0,
    )  # fmt: skip
    seen.wait(lambda events: any(type(event) is m.Suggested for event in events))
    nodes.add(num_cpus=2, num_gpus=2)
    analysis = run.wait(timeout_s=300)
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2
    assert {event.metrics["gpus"] for event in seen.of(m.Reported)} == {"0", "1"}


@pytest.mark.full
def test_trials_of_the_only_node_with_gpus_wait_for_another(
    nodes: Any, engine: Any, seen: Any, until: Any, tmp_path: Path
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
        engine(), seen, tmp_path, num_samples=2, verbose=1, progress_reporter=Blocks(),
        resources_per_trial={"cpu": 1, "gpu": 1},
    )  # fmt: skip
    seen.wait(lambda events: any(type(event) is m.Reported and event.t >= 12 for event in events))
    assert "waiting for" not in blocks[-1]
    nodes.kill(doomed)
    seen.wait(lambda events: any(map(is_loss, events)))
    until(lambda: any("waiting for cpu 1, gpu 1: no node has that now" in block for block in list(blocks)))
    assert not run.done
    nodes.add(num_cpus=2, num_gpus=2)
    check_whole(run, seen, tmp_path, 2)
    assert "waiting for" not in blocks[-1]
    assert any(event.restored is not None for event in seen.of(m.Started))


def test_a_gang_that_loses_a_member_runs_again(nodes: Any, engine: Any, seen: Any, tmp_path: Path) -> None:
    _, first = nodes.add_all({"num_cpus": 1}, {"num_cpus": 1})
    nodes.wait()
    on = engine()
    gang = tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 1}, {"CPU": 1}], strategy="STRICT_SPREAD")
    run = search(on, seen, tmp_path, num_samples=1, resources_per_trial=gang)
    seen.wait(lambda events: any(type(event) is m.Reported and event.t >= 12 for event in events))
    starts = seen.of(m.Started)
    doomed = next(one for one in [first, *nodes.added] if on.names[one.node_id] != starts[0].node)
    nodes.kill(doomed)
    seen.wait(lambda events: any(map(is_loss, events)))
    assert not run.done
    nodes.add(num_cpus=1)
    check_whole(run, seen, tmp_path, 1)
    assert seen.of(m.Started)[-1].restored is not None


@pytest.mark.parametrize(
    ("carries", "uses_ray"),
    [(False, True), (True, False), *[pytest.param(one, one, marks=pytest.mark.full) for one in (False, True)]],
)
def test_what_trials_write_into_their_folders_is_at_the_driver(
    nodes: Any, engine: Any, tmp_path: Path, carries: bool, uses_ray: bool
) -> None:
    nodes.add(num_cpus=2)
    nodes.wait()

    def train(config: dict[str, Any]) -> None:
        import os

        Path("model.pth").write_text(str(config["i"]))
        tune.report(cwd=os.getcwd(), folder=tune.get_trial_dir(), original=os.environ["TUNE_ORIG_WORKING_DIR"])
        Path("result.json").write_text("[1]") if config["i"] == 2 else None

    analysis = tune.run(
        tune.with_resources(train, {"cpu": 1}, ray=uses_ray), config={"i": tune.grid_search([1, 2, 3])},
        engine=engine(carries=carries), storage_path=str(tmp_path), name="exp", verbose=0,
    )  # fmt: skip
    for trial in analysis.trials:
        home, found = tmp_path / "exp" / trial.trial_id, trial.last_result
        assert found["cwd"] == found["folder"] != found["original"]
        assert (found["cwd"] == str(home)) is not carries
        assert (home / "model.pth").read_text() == str(trial.config["i"])
        assert ((home / "result.json").read_text() == "[1]") is (trial.config["i"] == 2)
