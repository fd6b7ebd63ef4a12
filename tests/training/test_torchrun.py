"""Scripts for torchrun as trainables."""

from __future__ import annotations

from pathlib import Path

import pytest

import overtone
from overtone import tune
from overtone.errors import ArgumentError, TuneError

SCRIPTS = Path(__file__).with_name("scripts")
SPACE = {"lr": tune.grid_search([0.1, 0.001])}


def searched(script, folder, space=SPACE, **options):
    trainable = tune.torchrun(SCRIPTS / script, nproc=2, args=["--epochs", "3"])
    return tune.run(
        trainable, config=space, storage_path=folder, verbose=0, metric="loss", mode="min", **options
    )


def test_a_script_that_knows_nothing_runs(tmp_path):
    trainable = tune.torchrun(SCRIPTS / "torchrun_plain.py", nproc=2)
    analysis = tune.run(trainable, config={"lr": 0.1}, storage_path=tmp_path, verbose=0)
    (trial,) = analysis.trials
    assert trial.status == "TERMINATED"
    assert analysis.results == {trial.trial_id: {}} or not trial.last_result.get("loss")


@pytest.mark.parametrize("script", ["torchrun_descriptor.py", "torchrun_report.py"])
def test_results_of_a_script(script, tmp_path):
    analysis = searched(script, tmp_path)
    assert analysis.best_config == {"lr": 0.1}
    for trial in analysis.trials:
        assert trial.last_result["training_iteration"] == 3
        assert trial.last_result["world"] == 2


@pytest.mark.parametrize(
    "script", ["torchrun_descriptor.py", pytest.param("torchrun_report.py", marks=pytest.mark.full)]
)
def test_a_script_is_stopped(script, tmp_path):
    analysis = searched(script, tmp_path, {"lr": 0.1}, stop={"training_iteration": 2})
    assert analysis.trials[0].last_result["training_iteration"] == 2


def test_an_exit_status_is_a_failure(tmp_path):
    with pytest.raises(TuneError, match="exited with status 3"):
        searched("torchrun_report.py", tmp_path, {"lr": 0.1, "exit": 3})


def test_a_rank_that_leaves_ends_those_that_wait_for_it(tmp_path):
    trainable = tune.torchrun(SCRIPTS / "torchrun_leaves.py", nproc=2)
    with pytest.raises(TuneError, match="rank 1"):
        tune.run(trainable, storage_path=tmp_path, verbose=0)


def test_a_missing_script_is_refused():
    with pytest.raises(ArgumentError, match="there is no such file"):
        tune.torchrun("missing.py", nproc=2)
    with pytest.raises(ValueError, match=r"args='--epochs 3': must be a list of arguments, such as \["):
        tune.torchrun(SCRIPTS / "torchrun_plain.py", "--epochs 3")
    with pytest.raises(ValueError, match="nproc=0: must be"):
        tune.torchrun(SCRIPTS / "torchrun_plain.py", nproc=0)


GPU_SCRIPT = """
import json, os
import torch.distributed as dist

dist.init_process_group("gloo")
seen = [None, None]
dist.all_gather_object(seen, [os.environ["LOCAL_RANK"], os.environ["CUDA_VISIBLE_DEVICES"]])
os.write(int(os.environ["OVERTONE_RESULTS_FD"]), (json.dumps({"seen": seen}) + "\\n").encode())
dist.destroy_process_group()
"""


def test_ranks_of_a_script_choose_their_gpu_by_local_rank(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(GPU_SCRIPT)
    overtone.init(num_cpus=2, num_gpus=2)
    try:
        trainable = tune.torchrun(script, nproc=2, gpus_per_proc=1)
        analysis = tune.run(trainable, storage_path=tmp_path, verbose=0)
    finally:
        overtone.shutdown()
    assert analysis.trials[0].last_result["seen"] == [["0", "0,1"], ["1", "0,1"]]
