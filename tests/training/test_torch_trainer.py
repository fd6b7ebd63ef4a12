"""Today's TorchTrainer: alone, under a Tuner, and in a function of a trial."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from overtone.tune.integration.ray_train import TuneReportCallback
from overtone.tune.integration.torch import DistributedTrainableCreator, distributed_checkpoint_dir
from torch.utils.data import DataLoader, TensorDataset

from overtone import train, tune
from overtone.errors import ResourceError
from overtone.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from overtone.train.torch import TorchTrainer, prepare_data_loader, prepare_model

TWO = ScalingConfig(num_workers=2)


def run_config(folder, **settings):
    return RunConfig(storage_path=folder, verbose=0, **settings)


def fit_line(config):
    """Fit y = 2 x, with a checkpoint in each epoch; go on from one. Each rank notes its steps."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    context = train.get_context()
    rank = context.get_world_rank()
    model = prepare_model(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    x = torch.arange(16.0)[:, None] / 16
    processes = config.get("processes", 0)
    loader = DataLoader(TensorDataset(x, 2 * x), batch_size=4, shuffle=True, num_workers=processes)
    loader = prepare_data_loader(loader)
    first = 0
    if (checkpoint := train.get_checkpoint()) is not None:
        with checkpoint.as_directory() as folder:
            saved = torch.load(os.path.join(folder, "state.pt"))
            assert torch.load(os.path.join(folder, f"rank{rank}.pt")) == rank
        model.load_state_dict(saved["model"])
        first = saved["epoch"] + 1
    for epoch in range(first, config["epochs"]):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        for features, target in loader:
            optimizer.zero_grad()
            loss = ((model(features) - target) ** 2).mean()
            loss.backward()
            optimizer.step()
        with Path(context.get_trial_dir(), f"steps{rank}").open("a") as steps:
            steps.write(f"{epoch} ")
        if epoch == config.get("kill_at") and rank == 1 and first == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if epoch == config.get("raise_at") and rank == 1:
            raise RuntimeError("rank 1 had enough")
        parameters = [float(one) for one in model.parameters()]
        metrics = {
            "loss": loss.item(),
            "rank": rank,
            "world": context.get_world_size(),
            "parameters": parameters,
        }
        with tempfile.TemporaryDirectory() as folder:
            if rank == 0:
                torch.save({"model": model.state_dict(), "epoch": epoch}, os.path.join(folder, "state.pt"))
            torch.save(rank, os.path.join(folder, f"rank{rank}.pt"))
            train.report(metrics, checkpoint=Checkpoint.from_directory(folder))


def steps_of(trial, rank):
    return Path(trial.path, f"steps{rank}").read_text().split()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    config = {"lr": 0.1, "epochs": 4}
    folder = tmp_path_factory.mktemp("undisturbed")
    trainer = TorchTrainer(
        fit_line, train_loop_config=config, scaling_config=TWO, run_config=run_config(folder)
    )
    return trainer.fit()


def test_a_training_alone_returns_its_result(undisturbed):
    assert undisturbed.error is None
    assert undisturbed.metrics["training_iteration"] == 4
    assert undisturbed.metrics["rank"] == 0
    assert undisturbed.metrics["world"] == 2
    assert undisturbed.config["train_loop_config"] == {"lr": 0.1, "epochs": 4}
    assert steps_of(undisturbed, 0) == steps_of(undisturbed, 1) == ["0", "1", "2", "3"]


def test_a_checkpoint_has_the_files_of_all_ranks(undisturbed):
    files = set(os.listdir(undisturbed.checkpoint.path))
    assert {"state.pt", "rank0.pt", "rank1.pt"} <= files


def test_a_killed_rank_is_made_again_and_changes_nothing(undisturbed, tmp_path):
    trainer = TorchTrainer(
        fit_line,
        train_loop_config={"lr": 0.1, "epochs": 4, "kill_at": 2, "processes": 1},
        scaling_config=TWO,
        run_config=run_config(tmp_path, checkpoint_config=CheckpointConfig(num_to_keep=1)),
    )
    result = trainer.fit()
    assert steps_of(result, 1) == ["0", "1", "2", "2", "3"]
    assert result.metrics["parameters"] == undisturbed.metrics["parameters"]


def test_a_failed_training_says_which_rank_and_goes_on_after_a_restore(undisturbed, tmp_path):
    arguments = {"scaling_config": TWO, "run_config": run_config(tmp_path, name="mine")}
    config = {"lr": 0.1, "epochs": 4, "raise_at": 2}
    with pytest.raises(train.TrainingFailedError, match="rank 1 had enough") as failed:
        TorchTrainer(fit_line, train_loop_config=config, **arguments).fit()
    assert "rank 1 of 2" in str(failed.value)
    assert "restore(" in str(failed.value)
    assert TorchTrainer.can_restore(tmp_path / "mine")

    def healed(config):
        fit_line({**config, "raise_at": None})

    result = TorchTrainer.restore(tmp_path / "mine", train_loop_per_worker=healed).fit()
    assert steps_of(result, 0)[-2:] == ["2", "3"]
    assert result.metrics["parameters"] == undisturbed.metrics["parameters"]


@pytest.mark.full
def test_a_training_begins_from_a_given_checkpoint(undisturbed, tmp_path):
    trainer = TorchTrainer(
        fit_line,
        train_loop_config={"lr": 0.1, "epochs": 5},
        scaling_config=TWO,
        run_config=run_config(tmp_path),
        resume_from_checkpoint=undisturbed.checkpoint,
    )
    assert steps_of(trainer.fit(), 1) == ["4"]


def test_a_search_is_over_ranks_as_well(tmp_path):
    trainer = TorchTrainer(fit_line, train_loop_config={"epochs": 1}, run_config=run_config(tmp_path))
    space = {
        "train_loop_config": {"lr": tune.grid_search([0.01, 0.1])},
        "scaling_config": ScalingConfig(num_workers=tune.grid_search([1, 2])),
    }
    results = tune.Tuner(trainer, param_space=space).fit()
    seen = [(one.config["train_loop_config"]["lr"], one.metrics["world"]) for one in results]
    assert sorted(seen) == [(0.01, 1), (0.01, 2), (0.1, 1), (0.1, 2)]


def test_a_stopped_trial_ends_in_all_ranks_at_the_same_step(tmp_path):
    space = {"train_loop_config": {"lr": tune.grid_search([0.1, 0.0, 0.0]), "epochs": 8}}
    results = tune.Tuner(
        TorchTrainer(fit_line, scaling_config=TWO, run_config=run_config(tmp_path)),
        param_space=space,
        tune_config=tune.TuneConfig(metric="loss", mode="min", scheduler="asha", max_concurrent_trials=1),
    ).fit()
    assert not results.errors
    steps = [(steps_of(one, 0), steps_of(one, 1)) for one in results]
    assert all(first == second for first, second in steps)
    assert len(steps[0][0]) == 8
    assert len(steps[2][0]) < 8


def mean_of_ranks(config):
    rank = train.get_context().get_world_rank()
    train.report({"rank": rank, "text": f"of {rank}"}, reduce="mean")
    train.report({"rank": rank})


def test_means_over_ranks(tmp_path):
    trainer = TorchTrainer(mean_of_ranks, scaling_config=TWO, run_config=run_config(tmp_path))
    frame = trainer.fit().metrics_dataframe
    assert list(frame["rank"]) == [0.5, 0]
    assert frame["text"][0] == "of 0"


def reports_in_rank_0(config):
    if train.get_context().get_world_rank() == 0:
        train.report({"loss": 1.0})


def test_reports_of_one_rank_alone_are_an_error(tmp_path):
    trainer = TorchTrainer(reports_in_rank_0, scaling_config=TWO, run_config=run_config(tmp_path))
    with pytest.raises(train.TrainingFailedError, match="every rank must call report"):
        trainer.fit()


def driver(config):
    scaling = ScalingConfig(num_workers=config["ranks"])
    loop = {"lr": config["lr"], "epochs": 3, "kill_at": 1}
    trainer = TorchTrainer(
        fit_line,
        train_loop_config=loop,
        scaling_config=scaling,
        run_config=RunConfig(callbacks=[TuneReportCallback()]),
    )
    result = trainer.fit()
    assert os.path.exists(os.path.join(result.checkpoint.path, "state.pt"))


def test_a_training_in_a_function_of_a_trial_uses_its_bundles_and_resumes(tmp_path):
    bundles = ScalingConfig(num_workers=2, trainer_resources={}).as_placement_group_factory()
    results = tune.Tuner(
        tune.with_resources(driver, bundles),
        param_space={"lr": 0.1, "ranks": tune.grid_search([2, 3])},
        run_config=run_config(tmp_path),
    ).fit()
    two, three = results
    assert two.error is None
    assert two.metrics["training_iteration"] == 3
    assert two.metrics["world"] == 2
    assert steps_of(two, 1) == ["0", "1", "1", "2"]
    assert os.path.exists(two.metrics["checkpoint_path"])
    assert "rank1.pt" in os.listdir(two.checkpoint.path)
    assert "tune.with_resources" in str(three.error)


def several_trainings(config):
    for number in range(3):
        scaling = ScalingConfig(num_workers=1 + number % 2)
        loop = {"number": number}
        train_once = TorchTrainer(
            report_number, train_loop_config=loop, scaling_config=scaling,
            run_config=RunConfig(callbacks=[TuneReportCallback()]),
        )  # fmt: skip
        assert train_once.fit().metrics["world"] == 1 + number % 2


def report_number(config):
    train.report({"number": config["number"], "world": train.get_context().get_world_size()})
    return lambda: "what cannot be pickled is not sent"


@pytest.mark.full
def test_a_trial_trains_several_times(tmp_path):
    bundles = ScalingConfig(num_workers=2, trainer_resources={}).as_placement_group_factory()
    tuner = tune.Tuner(tune.with_resources(several_trainings, bundles), run_config=run_config(tmp_path))
    (result,) = tuner.fit()
    assert result.error is None
    assert list(result.metrics_dataframe["number"]) == [0, 1, 2]


def save_in_parts(config):
    import torch.distributed.checkpoint as dcp
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    torch.set_num_threads(1)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    weights = distribute_tensor(torch.arange(16.0).reshape(8, 2), mesh, [Shard(0)])
    if (checkpoint := train.get_checkpoint()) is not None:
        state = {"weights": distribute_tensor(torch.zeros(8, 2), mesh, [Shard(0)])}
        dcp.load(state, checkpoint_id=checkpoint.path)
        rows = state["weights"].to_local().shape[0]
        is_same = bool((state["weights"].full_tensor() == weights.full_tensor()).all())
        train.report({"is_same": is_same, "rows": rows})
        return
    with tempfile.TemporaryDirectory() as folder:
        dcp.save({"weights": weights}, checkpoint_id=folder)
        train.report({"rows": weights.to_local().shape[0]}, checkpoint=Checkpoint.from_directory(folder))


def test_parts_that_four_ranks_save_are_loaded_by_two(tmp_path):
    def trainer(n, **more):
        scaling = ScalingConfig(num_workers=n, resources_per_worker={"CPU": 0.5})
        return TorchTrainer(save_in_parts, scaling_config=scaling, run_config=run_config(tmp_path), **more)

    saved = trainer(4).fit()
    assert saved.metrics["rows"] == 2
    loaded = trainer(2, resume_from_checkpoint=saved.checkpoint).fit()
    assert loaded.metrics["rows"] == 4
    assert loaded.metrics["is_same"]


def count_rows(config):
    shard = train.get_dataset_shard("numbers")
    train.report({"rows": list(shard)})


def test_each_rank_has_its_part_of_a_dataset(tmp_path):
    trainer = TorchTrainer(
        count_rows, scaling_config=TWO, datasets={"numbers": [1, 2, 3, 4]}, run_config=run_config(tmp_path)
    )
    assert len(trainer.fit().metrics["rows"]) == 2


def old_form(config, checkpoint_dir=None):
    first = 0 if checkpoint_dir is None else int(Path(checkpoint_dir, "step").read_text()) + 1
    total = torch.tensor([1.0])
    dist.all_reduce(total)
    for step in range(first, 3):
        with distributed_checkpoint_dir(step=step) as folder:
            Path(folder, "step").write_text(str(step))
        tune.report(total=total.item() + config["more"], step=step)
        if step == 1 and checkpoint_dir is None:
            raise RuntimeError("once")


def test_a_distributed_trainable_of_early_versions(tmp_path):
    trainable = DistributedTrainableCreator(old_form, num_workers=2, num_cpus_per_worker=1)
    analysis = tune.run(trainable, config={"more": 1}, local_dir=tmp_path, verbose=0, max_failures=1)
    (trial,) = analysis.trials
    assert trial.last_result["total"] == 3
    assert trial.last_result["step"] == 2
    assert trial.last_result["training_iteration"] == 3


def test_gpus_that_are_not_there_are_refused_before_a_rank_starts(tmp_path):
    trainer = TorchTrainer(
        fit_line,
        scaling_config=ScalingConfig(num_workers=2, use_gpu=True),
        run_config=run_config(tmp_path, failure_config=FailureConfig(max_failures=2)),
    )
    with pytest.raises(ResourceError, match="use_gpu=False"):
        trainer.fit()
