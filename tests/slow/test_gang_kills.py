"""Random kills of ranks and heads: the trial ends as if there had been none, and nothing is left."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.trial_host import TrialHost
from overtone.worker.gang.trial_reports import TrialReports
from overtone.worker.session.current import current

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

LAST = 60


def train() -> None:
    context: Any = tune.get_context()
    rank, at = context.get_world_rank(), Path(context.params["at"])
    (at / f"pid {os.getpid()}").touch()
    state = {"t": 0, "product": 7 + rank}
    checkpoint = context.get_checkpoint()
    if checkpoint is not None:
        state = json.loads(Path(checkpoint.path, f"shard{rank}").read_text())
    while state["t"] < LAST or not (at / "enough").exists():
        state = {"t": state["t"] + 1, "product": state["product"] * (state["t"] + 3) % 1000003}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, f"shard{rank}").write_text(json.dumps(state))
            context.report(loss=state["product"], checkpoint=tune.Checkpoint.from_directory(folder))
        if state["t"] >= LAST:
            time.sleep(0.01)


def head(config: dict[str, Any]) -> None:
    (Path(config["at"]) / f"pid {os.getpid()}").touch()
    session = current()
    with Gang(TrialHost(session), 2, timeout_s=60) as gang:
        gang.run(train, on_report=TrialReports(session))


def living(at: Path) -> list[int]:
    """Return the processes of the trial that run."""
    return [
        pid
        for pid in (int(file.name.split()[1]) for file in at.glob("pid *"))
        if Path(f"/proc/{pid}").exists()
    ]


def kill_some(at: Path, killed: list[int], n_kills: int) -> None:
    """Kill a process of the trial, again and again; then let the trial end."""
    draw = random.Random(5)
    while len(killed) < n_kills:
        time.sleep(draw.uniform(0.05, 0.4))
        if pids := living(at):
            with suppress(ProcessLookupError):
                os.kill(draw.choice(pids), signal.SIGKILL)
                killed.append(1)
    (at / "enough").touch()


def product_at(t: int) -> int:
    product = 7
    for step in range(t):
        product = product * (step + 3) % 1000003
    return product


@pytest.mark.parametrize("n_kills", [5, pytest.param(15, marks=pytest.mark.full)])
def test_random_kills(tmp_path: Path, n_kills: int) -> None:
    killed: list[int] = []
    killer = threading.Thread(target=kill_some, args=(tmp_path, killed, n_kills))
    killer.start()
    demand = tune.PlacementGroupFactory([{}, {"CPU": 0.5}, {"CPU": 0.5}])
    found = tune.run(
        tune.with_resources(head, demand), config={"at": str(tmp_path)}, metric="loss", mode="min",
        storage_path=str(tmp_path), verbose=0, max_failures=-1, keep_checkpoints_num=2,
    )  # fmt: skip
    killer.join()
    (trial,) = found.trials
    assert (trial.status, len(killed)) == ("TERMINATED", n_kills)
    last = trial.last_result
    assert last["training_iteration"] >= LAST
    assert last["loss"] == product_at(last["training_iteration"])
    give_up_at = time.monotonic() + 60
    while living(tmp_path) and time.monotonic() < give_up_at:
        time.sleep(0.01)
    assert living(tmp_path) == []
    assert not list(tmp_path.rglob(".saving_*"))
