"""Ranks of a trial run on the nodes of their bundles, and end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.trial_host import TrialHost
from overtone.worker.gang.trial_reports import TrialReports
from overtone.worker.session.current import current

pytestmark = pytest.mark.filterwarnings("default")

GONE_WITHIN_S = 90.0
"""On a busy machine; `tests/chaos/gangs.py` measures that it is two seconds on another."""
TWO_RANKS = [{}, {"CPU": 1.0}, {"CPU": 1.0}]
LAST_RANK_THERE = [{"GPU": 0.01}, {"CPU": 1.0}, {"CPU": 1.0, "rank": 0.01}]
FORKED_OR_ACTOR = pytest.mark.parametrize(
    "uses_ray", [False, pytest.param(True, marks=pytest.mark.full)], ids=["forked", "actor"]
)


def seen_by_rank() -> dict[str, Any]:
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "GROUP_RANK", "TORCHELASTIC_RESTART_COUNT", "CUDA_VISIBLE_DEVICES")
    return {"pid": os.getpid(), "parent": os.getppid(), **{name: os.environ.get(name, "") for name in names}}


def ask_ranks(config: dict[str, Any]) -> None:
    """Report what three ranks see, in two generations."""
    with Gang(TrialHost(current()), 3, timeout_s=300) as gang:
        found = gang.call(seen_by_rank)
        gang.restart()
        again = gang.call(seen_by_rank)
    gone = [one["pid"] for one in found + again if psutil.pid_exists(one["pid"])]
    tune.report({"loss": 0.0, "found": found, "again": again, "left": gone})


def steps(config: dict[str, Any]) -> None:
    """Count in both ranks until they may end, with checkpoints; note the pids of all processes."""
    folder = Path(config["folder"])
    name = tune.get_trial_id()
    folder.joinpath(f"{name}-head").write_text(str(os.getpid()))
    with Gang(TrialHost(current()), 2, timeout_s=300) as gang:
        gang.run(count, config, on_report=TrialReports(current()))


def count(config: dict[str, Any]) -> None:
    rank, folder = os.environ["RANK"], Path(config["folder"])
    first = 0
    if (checkpoint := tune.get_checkpoint()) is not None:
        with checkpoint.as_directory() as kept:
            first = int(Path(kept, f"n{rank}").read_text())
    n, last = first, folder / "last"
    while not (last.exists() and n >= int(last.read_text())):
        n += 1
        time.sleep(config.get("step_s", 0.05))
        if rank == "0" and (folder / "may_end").exists() and not last.exists():
            new = folder / "last.new"  # each rank reads it before its next step
            new.write_text(str(n + 1))
            new.replace(last)
        own = folder / f"save-{rank}-{n}"
        own.mkdir(exist_ok=True)
        own.joinpath(f"n{rank}").write_text(str(n))
        part = folder / f"{rank}.part"
        part.write_text(str(os.getpid()))
        part.replace(folder / f"rank-{rank}")
        tune.report({"n": n, "loss": -n}, checkpoint=tune.Checkpoint.from_directory(own))


def check_steps(run: Any, seen: Any, folder: Path) -> None:
    """Let the trial end, and check that its last attempt has made each step after its checkpoint once."""
    (folder / "may_end").touch()
    (trial,) = run.wait(timeout_s=300).trials
    assert trial.status == "TERMINATED", trial.error
    first, second = seen.of(m.Started)
    assert first.restored is None
    again = [one.metrics["n"] for one in seen.of(m.Reported) if one.attempt == 1]
    last = int((folder / "last").read_text())
    assert again == list(range(int(second.restored.t) + 1, last + 1))
    assert trial.last_result["n"] == last


def begin(trainable: Any, on: Any, seen: Any, folder: Path, bundles: list[dict[str, float]], **options: Any) -> Any:
    uses_ray = options.pop("uses_ray", False)
    shape = tune.PlacementGroupFactory(bundles, strategy=options.pop("strategy", "PACK"))
    return tune.start(
        tune.with_resources(trainable, shape, ray=uses_ray), engine=on, callbacks=[seen], metric="loss",
        mode="min", verbose=0, storage_path=str(folder), config={"folder": str(folder), **options.pop("config", {})},
        **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def both(module_nodes: Any) -> None:
    """Two nodes besides the head of the cluster."""
    module_nodes.add_all({"num_cpus": 2, "num_gpus": 2}, {"num_cpus": 1, "num_gpus": 1})
    module_nodes.wait()


@FORKED_OR_ACTOR
def test_ranks_see_their_own_and_leave_nothing(
    both: None, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    bundles = [{}, *[{"CPU": 1.0, "GPU": 1.0}] * 3]
    run = begin(ask_ranks, engine(), seen, tmp_path, bundles, uses_ray=uses_ray)
    (trial,) = run.wait(timeout_s=300).trials
    assert trial.status == "TERMINATED", trial.error
    (result,) = seen.of(m.Reported)
    for found, generation in ((result.metrics["found"], "0"), (result.metrics["again"], "1")):
        assert [(one["RANK"], one["WORLD_SIZE"]) for one in found] == [("0", "3"), ("1", "3"), ("2", "3")]
        assert len({one["GROUP_RANK"] for one in found}) == len({one["parent"] for one in found}) == 2
        assert [one["TORCHELASTIC_RESTART_COUNT"] for one in found] == [generation] * 3
        assert sorted(one["CUDA_VISIBLE_DEVICES"] for one in found) == ["0", "0", "1"]
    assert result.metrics["left"] == []


def pids(folder: Path) -> dict[str, int]:
    files = {"head": next(iter(folder.glob("*-head")), None), **{str(r): folder / f"rank-{r}" for r in range(2)}}
    return {name: int(file.read_text()) for name, file in files.items() if file is not None and file.exists()}


@pytest.mark.parametrize(
    ("who", "uses_ray"),
    [("head", False), pytest.param("1", False, marks=pytest.mark.full), ("1", True)],
    ids=["head", "forked", "actor"],
)
def test_the_death_of_one_ends_all_and_the_trial_goes_on_from_its_checkpoint(
    both: None, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool, who: str
) -> None:
    run = begin(steps, engine(), seen, tmp_path, TWO_RANKS, strategy="SPREAD", uses_ray=uses_ray)
    seen.wait(lambda events: any(type(one) is m.Reported and one.t >= 5 for one in events))
    found = pids(tmp_path)
    assert len(found) == 3
    others = [psutil.Process(pid) for name, pid in found.items() if name != who]
    os.kill(found[who], signal.SIGKILL)
    _, alive = psutil.wait_procs(others, timeout=GONE_WITHIN_S)
    assert not [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]
    check_steps(run, seen, tmp_path)
    assert [one.cause for one in seen.of(m.Ended)][1:] == ["returned"]
    assert seen.of(m.Started)[1].restored.t >= 4


@FORKED_OR_ACTOR
def test_the_loss_of_a_node_with_a_rank_is_no_failure(
    both: None, nodes: Any, engine: Any, seen: Any, tmp_path: Path, uses_ray: bool
) -> None:
    doomed = nodes.add(num_cpus=1, resources={"rank": 1})
    nodes.wait()
    run = begin(steps, engine(), seen, tmp_path, LAST_RANK_THERE, uses_ray=uses_ray)
    seen.wait(lambda events: any(type(one) is m.Reported and one.t >= 5 for one in events))
    nodes.kill(doomed)
    ended = seen.wait(lambda events: [one for one in events if type(one) is m.Ended])[0]
    assert ended.cause == "lost"
    nodes.add(num_cpus=1, resources={"rank": 1})
    check_steps(run, seen, tmp_path)
    assert seen.of(m.Started)[1].restored.t >= 4


def test_a_gang_leaves_a_node_that_is_drained_once_it_has_saved(
    both: None, nodes: Any, engine: Any, seen: Any, tmp_path: Path, until: Any
) -> None:
    doomed = nodes.add(num_cpus=1, resources={"rank": 1})
    nodes.wait()
    run = begin(steps, engine(), seen, tmp_path, LAST_RANK_THERE, config={"step_s": 0.2})
    seen.wait(lambda events: any(type(one) is m.Reported and one.t >= 3 for one in events))
    command = [
        str(Path(sys.executable).with_name("ray")), "drain-node", "--address", nodes.cluster.address,
        "--node-id", doomed.node_id, "--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "a spot machine",
        "--deadline-remaining-seconds", "900",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    ended = seen.wait(lambda events: [one for one in events if type(one) is m.Ended])[0]
    assert ended.cause == "halted"
    until(lambda: not [pid for pid in pids(tmp_path).values() if psutil.pid_exists(pid)])
    nodes.add(num_cpus=1, resources={"rank": 1})
    check_steps(run, seen, tmp_path)
    reported = [one.metrics["n"] for one in seen.of(m.Reported)]
    assert reported == list(range(1, reported[-1] + 1))


def hang(config: dict[str, Any]) -> None:
    with Gang(TrialHost(current()), 2, timeout_s=300) as gang:
        gang.call(hang_here, config["folder"])


def hang_here(folder: str) -> None:
    Path(folder, f"rank-{os.environ['RANK']}").write_text(str(os.getpid()))
    time.sleep(1000)


@pytest.mark.full
def test_stacks_are_those_of_head_and_ranks(
    both: None, engine: Any, seen: Any, until: Any, tmp_path: Path
) -> None:
    on = engine()
    run = begin(hang, on, seen, tmp_path, TWO_RANKS, strategy="SPREAD")
    until(lambda: len(pids(tmp_path)) == 2)
    (started,) = seen.of(m.Started)
    until(lambda: len(on._trials.processes(started.trial_id)) == 3)
    stacks = on.stacks(started.trial_id)
    assert stacks.count("in hang_here") == 2
    assert stacks.count("in hang\n") == 1
    run.stop()
    run.wait(timeout_s=300)
    until(lambda: not [pid for pid in pids(tmp_path).values() if psutil.pid_exists(pid)])
