"""Trials with ranks, on the local engine: results, checkpoints, halts and failures with the whole run around."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.tune.schedulers import ASHAScheduler
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.trial_host import TrialHost
from overtone.worker.gang.trial_reports import TrialReports
from overtone.worker.session.current import current

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BUNDLES = [{}, {"CPU": 0.5}, {"CPU": 0.5}]


def head(config: dict[str, Any]) -> None:
    """Run `config["loop"]` in two ranks."""
    session = current()
    Path(config["at"], "head").write_text(str(os.getpid()))
    with Gang(TrialHost(session), 2, timeout_s=60) as gang:
        gang.run(config["loop"], on_report=TrialReports(session, "mean"))


def run(loop: Any, folder: Path, **options: Any) -> Any:
    config = {"loop": loop, "at": str(folder), **options.pop("config", {})}
    return tune.run(
        tune.with_resources(head, tune.PlacementGroupFactory(BUNDLES)), config=config, metric="loss",
        mode="min", storage_path=str(folder), verbose=0, raise_on_failed_trial=False, **options,
    )  # fmt: skip


def note_pid(at: str) -> None:
    with Path(at, "pids").open("a") as file:
        file.write(f"{os.getpid()}\n")


def all_gone(folder: Path) -> bool:
    """Return whether every process that called `note_pid` ends."""
    give_up_at = time.monotonic() + 60
    for pid in (folder / "pids").read_text().split():
        while Path("/proc", pid).exists():
            if time.monotonic() > give_up_at:
                return False
            time.sleep(0.01)
    return True


def count_to_8() -> None:
    """Count to 8 in each rank, each with its shard; the state is a product that shows each step."""
    context: Any = tune.get_context()
    at, name = context.params["at"], f"shard{context.get_world_rank()}.json"
    note_pid(at)
    state = {"t": 0, "product": 1 + context.get_world_rank()}
    checkpoint = context.get_checkpoint()
    if checkpoint is not None:
        state = json.loads(Path(checkpoint.path, name).read_text())
    while state["t"] < 8:
        state = {"t": state["t"] + 1, "product": state["product"] * (state["t"] + 3) % 1009}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_text(json.dumps(state))
            context.report(loss=state["product"], checkpoint=tune.Checkpoint.from_directory(folder))
        if state["t"] == 4 and checkpoint is None:
            if context.params.get("kill") == name:
                os.kill(os.getpid(), context.params["signal"])
            elif context.params.get("kill") == "head":
                os.kill(int(Path(at, "head").read_text()), context.params["signal"])


def product_after(steps: int, rank: int) -> int:
    product = 1 + rank
    for t in range(steps):
        product = product * (t + 3) % 1009
    return product


@pytest.mark.parametrize(
    ("kill", "signum"),
    [("shard1.json", signal.SIGKILL), ("head", signal.SIGKILL), ("shard1.json", signal.SIGTERM)],
)
def test_a_trial_goes_on_as_if_none_of_its_processes_had_been_killed(
    tmp_path: Path, kill: str, signum: int
) -> None:
    (trial,) = run(count_to_8, tmp_path, config={"kill": kill, "signal": int(signum)}).trials
    assert trial.status == "TERMINATED"
    last = trial.last_result
    assert last["training_iteration"] == 8
    assert last["loss"] == (product_after(8, 0) + product_after(8, 1)) / 2
    # after a SIGTERM, all ranks halt at the same step, with its checkpoint
    assert last["iterations_since_restore"] in ([4] if signum == signal.SIGKILL else [2, 3])
    assert all_gone(tmp_path)


def end_by_halts() -> None:
    context = tune.get_context()
    note_pid(context.params["at"])
    steps = Path(context.params["at"], f"{context.get_trial_id()} {context.get_world_rank()}")
    for step in range(1, 9):
        steps.write_text(str(step))
        context.report(loss=int(context.get_trial_id()[-5:]) + 1.0 / step)


def test_a_scheduler_stops_all_ranks_at_the_same_step(tmp_path: Path) -> None:
    found = run(end_by_halts, tmp_path, num_samples=6, scheduler=ASHAScheduler(max_t=8, grace_period=1))
    lengths = {trial.trial_id: trial.last_result["training_iteration"] for trial in found.trials}
    assert {trial.status for trial in found.trials} == {"TERMINATED"}
    assert min(lengths.values()) < 8
    for trial_id, length in lengths.items():
        assert [(tmp_path / f"{trial_id} {i}").read_text() for i in range(2)] == [str(length)] * 2
    assert all_gone(tmp_path)


def fail_in_rank_1() -> None:
    context = tune.get_context()
    context.report(loss=1.0)
    if context.get_world_rank() == 1:
        raise ZeroDivisionError("in rank 1")
    context.report(loss=2.0)


def test_the_error_of_a_rank_is_the_trials(tmp_path: Path) -> None:
    (trial,) = run(fail_in_rank_1, tmp_path).trials
    assert trial.status == "ERROR"
    assert trial.error.startswith("GangError: rank 1 of 2 raised ZeroDivisionError: in rank 1")
    assert "fail_in_rank_1" in trial.traceback
    assert trial.traceback.startswith(f"{trial.error}\nTraceback")
    assert "overtone/worker" not in trial.traceback
