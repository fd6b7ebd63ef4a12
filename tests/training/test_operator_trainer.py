"""`TorchTrainer` called from a script: the calling process is the head, and workers are its processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch
from small_operators import GAN, Random, points
from torch.utils.data import DataLoader

import overtone
from overtone.errors import GangError, ResourceError
from overtone.util.sgd.torch import TorchTrainer, TrainingOperator
from overtone.util.sgd.utils import BATCH_SIZE


@pytest.fixture
def trainer_of():
    """Makes trainers of two workers on half a CPU each, and shuts them down."""
    made = []

    def make(operator_class=Random, **arguments):
        settings = {
            "training_operator_cls": operator_class,
            "num_workers": 2,
            "num_cpus_per_worker": 0.5,
            "use_gpu": False,
            "scheduler_step_freq": "epoch",
        }
        made.append(TorchTrainer(**{**settings, **arguments}))
        return made[-1]

    yield make
    for trainer in made:
        trainer.shutdown(force=True)


class Fragile(Random):
    """Kills a worker in the second epoch as often as there are marks to make."""

    n_validation = 29

    def train_batch(self, batch, batch_info):
        if self.world_rank == 1 and batch_info["epoch_idx"] == 1 and batch_info["batch_idx"] == 1:
            for mark in self.config.get("marks", ()):
                if not Path(mark).exists():
                    Path(mark).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return super().train_batch(batch, batch_info)


def test_a_trainer_of_two_workers(trainer_of, tmp_path, capfd):
    trainer = trainer_of(Fragile, config={BATCH_SIZE: 21}, initialization_hook=lambda: print("hello"))
    assert "batches have 20 samples instead of 21: 10 for each of 2 workers" in capfd.readouterr().err
    assert trainer.config[BATCH_SIZE] == 20
    assert trainer.apply_all_operators(lambda operator: operator.config[BATCH_SIZE]) == [10, 10]
    assert trainer.apply_all_workers(lambda: int(os.environ["RANK"])) == [0, 1]
    assert os.getpid() not in trainer.apply_all_workers(os.getpid)

    result = trainer.train(profile=True)
    assert (result["num_samples"], result["epoch"], result["batch_count"]) == (96, 1, 3)
    assert result["profile"]["mean_fwd_s"] > 0
    apart = trainer.validate(reduce_results=False)
    assert [one["num_samples"] for one in apart] == [15, 14]
    whole = trainer.validate()
    assert whole["val_loss"] == pytest.approx(sum(one["val_loss"] * one["num_samples"] for one in apart) / 29)

    path = trainer.save(tmp_path / "file")
    expected = trainer.train(num_steps=2), trainer.train(), trainer.validate()
    trainer.load(path)
    assert (trainer.train(num_steps=2), trainer.train(), trainer.validate()) == expected
    model = trainer.get_model()
    assert isinstance(model, torch.nn.Sequential)
    assert model(torch.zeros(2, 4)).shape == (2, 2)
    with pytest.raises(TypeError, match="set use_local=True and num_workers=1"):
        trainer.get_local_operator()

    trainer.shutdown()
    with pytest.raises(GangError, match="this trainer was shut down"):
        trainer.train()
    alone = trainer_of(Fragile, num_workers=1, use_local=True)
    alone.load(path)  # of two workers, by one
    assert alone.train()["epoch"] == 2


def test_a_killed_worker_is_started_again_and_the_group_does_not_shrink(trainer_of, tmp_path, capfd):
    undisturbed = trainer_of(Fragile)
    expected = [undisturbed.train() for _ in range(3)]
    undisturbed.shutdown()
    marks = [tmp_path / "one", tmp_path / "two"]
    trainer = trainer_of(Fragile, config={"marks": marks})
    assert [trainer.train() for _ in range(3)] == expected
    assert all(mark.exists() for mark in marks)
    assert trainer.apply_all_operators(lambda operator: operator.world_size) == [2, 2]
    assert "2 of 3 retries" in capfd.readouterr().err


@pytest.mark.full
def test_without_retries_a_killed_worker_is_an_error(trainer_of, tmp_path):
    trainer = trainer_of(Fragile, config={"marks": [tmp_path / "one"]})
    trainer.train(max_retries=0)
    with pytest.raises(GangError, match="rank 1"):
        trainer.train(max_retries=0)


def test_errors_of_the_users_code_are_not_retried(trainer_of):
    class Broken(Random):
        calls = 0

        def train_batch(self, batch, batch_info):
            raise ValueError("my own fault")

    trainer = trainer_of(Broken)
    with pytest.raises(GangError, match="my own fault") as raised:
        trainer.train()
    assert "in train_batch" in raised.value.traceback
    trainer.shutdown()

    class Unmade(Random):
        def setup(self, config):
            raise ValueError("never set up")

    with pytest.raises(GangError, match="never set up"):
        trainer_of(Unmade)


def test_too_many_workers_are_refused_before_any_starts(trainer_of):
    with pytest.raises(ResourceError, match="this machine has"):
        trainer_of(num_workers=4, num_cpus_per_worker=1000)


@pytest.mark.full
def test_several_models_are_had_in_their_shape(trainer_of):
    trainer = trainer_of(GAN, scheduler_step_freq=None)
    trainer.train(num_steps=1)
    assert [type(model).__name__ for model in trainer.get_model()] == ["Linear", "Sequential"]
    trainer.update_scheduler(0.5)


@pytest.mark.full
def test_declared_cpus_count(trainer_of):
    overtone.init(num_cpus=64)
    try:
        trainer = trainer_of(num_workers=2, num_cpus_per_worker=16)
        assert trainer.train(num_steps=1)["batch_count"] == 1
    finally:
        overtone.shutdown()


@pytest.mark.full
def test_a_module_of_lightning(trainer_of):
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self, config):
            super().__init__()
            torch.manual_seed(0)
            self.layer = torch.nn.Linear(4, 2)

        def training_step(self, batch, batch_idx):
            loss = torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
            self.log("loss", loss, prog_bar=True)
            return loss

        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), 0.5)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
            return [optimizer], [{"scheduler": scheduler, "interval": "step"}]

    data = DataLoader(points(), 16, shuffle=True)
    trainer = trainer_of(TrainingOperator.from_ptl(Module, data), scheduler_step_freq=None)
    losses = [trainer.train()["loss"] for _ in range(3)]
    assert losses[2] < losses[0]
    assert trainer.apply_all_operators(lambda operator: operator.scheduler.last_epoch) == [9, 9]
    assert not trainer.has_validation()
