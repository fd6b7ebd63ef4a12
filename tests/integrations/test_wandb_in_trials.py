"""A run of W&B inside a trial, whose process forks afterwards: nothing is lost, and nothing stays."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from overtone.tune.integration.wandb import setup_wandb
from tracker_contents import records

from overtone import tune
from tests.integrations.programs import processes_with


def train(config):
    run = setup_wandb(config, mode="offline", project="p", dir=config["folder"])
    for t in range(1, 6):
        run.log({"loss": config["x"] / t}, step=t)
        tune.report(loss=config["x"] / t)
        if t == 2:
            fork(lambda: None)
            fork(lambda: run.summary.get("loss"))
            context = multiprocessing.get_context("fork")
            queue = context.SimpleQueue()
            helper = context.Process(target=queue.put, args=(os.getpid(),))
            helper.start()
            assert queue.get() == os.getpid()
            helper.join()
    if config["finishes"]:
        run.finish()


def fork(work):
    """Run something in a fork of this process, and wait for its end."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def written(path):
    """Return the losses and the exit code in the file of an offline run."""
    from wandb.proto import wandb_internal_pb2 as pb

    found = [pb.Record.FromString(body) for body in records(path.read_bytes())]
    rows = [{item.key or item.nested_key[0]: item.value_json for item in one.history.item} for one in found]
    losses = [json.loads(row["loss"]) for row in rows if "loss" in row]
    return losses, [one.exit.exit_code for one in found if one.HasField("exit")]


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.parametrize("reuse_actors", [False, pytest.param(True, marks=pytest.mark.full)])
def test_a_trial_that_forks_after_wandb_has_started(tmp_path, monkeypatch, reuse_actors):
    pytest.importorskip("wandb")
    monkeypatch.setenv("OVERTONE_TEST_MARK", tmp_path.name)
    space = {
        "x": tune.grid_search([1, 2]),
        "finishes": tune.grid_search([True, False]),
        "folder": str(tmp_path),
    }
    found = tune.run(train, config=space, storage_path=str(tmp_path), verbose=0, reuse_actors=reuse_actors)
    for trial in found.trials:
        (path,) = Path(tmp_path, "wandb").glob(f"offline-run-*-{trial.trial_id}/run-*.wandb")
        assert written(path) == ([trial.config["x"] / t for t in range(1, 6)], [0])
    assert not [pid for pid in processes_with(f"OVERTONE_TEST_MARK={tmp_path.name}") if is_wandbs(pid)]


def is_wandbs(pid):
    try:
        return b"wandb-core" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
