"""`TorchTrainer.as_trainable` in searches: equal results whatever the gang, faults, PBT, and what is refused."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import torch
from small_operators import GAN, Classifier, Random

from overtone import tune
from overtone.engines.local import Local
from overtone.train.torch.operators.operator_trainable import CHECKPOINT
from overtone.tune.schedulers import PopulationBasedTraining
from overtone.util.sgd.torch import TorchTrainer
from overtone.util.sgd.utils import NUM_SAMPLES


@pytest.fixture
def search(tmp_path):
    """Runs a search over trainers, and returns its analysis."""

    def run(trainable, **arguments):
        settings = {
            "storage_path": str(tmp_path),
            "engine": Local(cpus=6),
            "verbose": 0,
            "checkpoint_freq": 1,
            "checkpoint_at_end": True,
            **arguments,
        }
        return tune.run(trainable, **settings)

    return run


def trainable(operator_class, **arguments):
    return TorchTrainer.as_trainable(
        training_operator_cls=operator_class, **{"num_workers": 2, "use_gpu": False, **arguments}
    )


def models_of(analysis):
    """The parameters of each trial's last checkpoint."""
    found = []
    for trial in analysis.trials:
        with analysis.get_last_checkpoint(trial).as_directory() as folder:
            state = torch.load(Path(folder, CHECKPOINT), weights_only=True)
        found.append([value for model in state["shared"]["models"] for value in model.values()])
    return found


class Uneven(Classifier):
    n_validation = 31  # of two workers, one gets a sample more


def test_one_and_two_ranks_learn_the_same(search):
    space = {"num_workers": tune.grid_search([1, 2])}
    analysis = search(trainable(Uneven), config=space, stop={"training_iteration": 5})
    one, two = models_of(analysis)
    for first, second in zip(one, two, strict=True):
        torch.testing.assert_close(first, second, rtol=0, atol=1e-5)
    alone, both = (trial.last_result for trial in analysis.trials)
    assert (alone["num_samples"], both["num_samples"]) == (31, 31)
    for name in ("train_loss", "val_loss", "val_accuracy"):
        assert both[name] == pytest.approx(alone[name], abs=1e-5)
    assert [trial.resources.total()["cpu"] for trial in analysis.trials] == [2, 3]


class Killed(Random):
    """A rank kills itself, or the head, in the middle of the third epoch; once."""

    n_validation = 29  # batch norm, and a batch of validation less on one of the workers

    def train_batch(self, batch, batch_info):
        mark = Path(self.config["marks"], self.config["victim"])
        victim = {"rank": os.getpid(), "head": batch_info["head"], "nobody": 0}[self.config["victim"]]
        if self.world_rank == 1 and batch_info["epoch_idx"] == 2 and batch_info["batch_idx"] == 1 and victim:
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(victim, signal.SIGKILL)
        return super().train_batch(batch, batch_info)


def told_of_the_head(trainer, info):
    return {**trainer.train(info={"head": os.getpid()}), **trainer.validate()}


def test_a_killed_rank_or_head_costs_nothing_but_time(search, tmp_path):
    analysis = search(
        trainable(Killed, scheduler_step_freq="epoch", override_tune_step=told_of_the_head),
        config={"victim": tune.grid_search(["nobody", "rank", "head"]), "marks": str(tmp_path)},
        stop={"training_iteration": 5},
    )
    assert {"rank", "head"} <= {path.name for path in tmp_path.iterdir()}
    undisturbed, *others = models_of(analysis)
    for other in others:
        assert all(map(torch.equal, undisturbed, other))
    results = [trial.last_result for trial in analysis.trials]
    for name in ("train_loss", "val_loss", "val_accuracy", "epoch", "batch_count", NUM_SAMPLES):
        assert results[0][name] == results[1][name] == results[2][name]


@pytest.mark.full
def test_a_gan_with_an_epoch_of_its_own(search):
    analysis = search(trainable(GAN, use_fp16=True), stop={"training_iteration": 2})
    result = analysis.trials[0].last_result
    assert (result["num_samples"], result["epoch"]) == (64, 2)
    assert {"loss_d", "loss_g"} <= set(result)
    assert "val_loss" not in result


class WithRate(Classifier):
    def validate(self, val_iterator, info):
        found = super().validate(val_iterator, info)
        return {**found, "rate": self.optimizer.param_groups[0]["lr"], "configured": self.config["lr"]}


def test_a_population_of_gangs_takes_up_changed_rates(search):
    scheduler = PopulationBasedTraining(
        time_attr="training_iteration",
        perturbation_interval=2,
        hyperparam_mutations={"lr": [0.3]},
        resample_probability=1,
        quantile_fraction=0.5,
        synch=True,
    )
    analysis = search(
        trainable(WithRate),
        config={"lr": tune.grid_search([1e-4, 0.2])},
        scheduler=scheduler,
        metric="val_loss",
        mode="min",
        stop={"training_iteration": 6},
        seed=3,
    )
    copy, _ = analysis.trials  # with the other's parameters, learned at 0.2, and the rate 0.3
    assert copy.config["lr"] == 0.3
    for trial in analysis.trials:
        assert trial.last_result["rate"] == trial.last_result["configured"] == trial.config["lr"]
        assert trial.last_result["epoch"] == 6


class Leaky(Classifier):
    def setup(self, config):
        config.setdefault("shared", {})["seen"] = config["n"]
        config["list"].append(config["n"])
        assert config["list"] == [config["n"]]
        super().setup(config)


@pytest.mark.parametrize("use_local", [True, pytest.param(False, marks=pytest.mark.full)])
def test_a_config_does_not_leak_into_the_next_trial(search, use_local):
    shared = {"shared": {}, "list": []}
    kind = trainable(Leaky, num_workers=1, use_local=use_local, config=shared)
    analysis = search(
        kind,
        config={"n": tune.grid_search([1, 2, 3])},
        stop={"training_iteration": 1},
        reuse_actors=True,
        engine=Local(cpus=2),
    )
    assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 3
    assert shared == {"shared": {}, "list": []}


class Raises(Classifier):
    def train_batch(self, batch, batch_info):
        if self.world_rank == 1:
            raise RuntimeError("no such luck")
        return super().train_batch(batch, batch_info)


def test_an_exception_of_a_rank_is_the_trials(search):
    analysis = search(trainable(Raises), stop={"training_iteration": 2}, raise_on_failed_trial=False)
    error = Path(analysis.trials[0].error_file).read_text("utf-8")
    assert "no such luck" in error
    assert "rank 1" in error
    assert "in train_batch" in error


def test_resources_per_trial_are_refused_with_the_reason(search):
    with pytest.raises(
        TypeError, match=r"leave it out for TorchTrainable; its trials take 1 CPU and a bundle"
    ):
        search(trainable(Classifier), resources_per_trial={"cpu": 4})


def test_gpus_that_are_not_there_fail_before_a_rank_starts(search):
    analysis = search(trainable(Classifier, use_gpu=True), raise_on_failed_trial=False)
    assert "use_gpu=False" in analysis.trials[0].error
    assert not list(Path(analysis.trials[0].local_path).glob("checkpoint_*"))


def test_too_few_cpus_are_an_error_and_no_wait(search):
    analysis = search(trainable(Classifier, num_workers=9), raise_on_failed_trial=False)
    error = analysis.trials[0].error
    assert "this machine has cpu 6" in error


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"num_worker": 2}, r"has no argument 'num_worker'; did you mean 'num_workers'"),
        ({"training_operator_cls": None}, "must be a subclass of TrainingOperator"),
    ],
)
def test_wrong_arguments_are_refused_where_they_are_written(arguments, error):
    with pytest.raises(TypeError, match=error):
        TorchTrainer.as_trainable(**{"training_operator_cls": Classifier, **arguments})


def test_both_forms_of_torch_trainer_have_one_name():
    from overtone.train.torch import TorchTrainer as either
    from overtone.train.torch import TrainingOperator

    assert issubclass(Classifier, TrainingOperator)

    local = {"training_operator_cls": Classifier, "use_local": True, "use_gpu": False}
    assert either(**local).train()["epoch"] == 1
    assert either.as_trainable(**local).__name__ == "TorchTrainable"
    today = either(lambda config: None)
    assert "as_trainable" in repr(today.as_trainable)
    with pytest.raises(TypeError, match=r"has no argument 'scaling_config'"):
        either(training_operator_cls=Classifier, scaling_config=None)


def test_a_range_of_workers_takes_what_the_machine_holds(search):
    analysis = search(
        trainable(Classifier, num_workers=(1, 3)), stop={"training_iteration": 1}, engine=Local(cpus=3)
    )
    assert analysis.trials[0].status == "TERMINATED"
    assert analysis.trials[0].resources.total() == {"cpu": 3}
    assert analysis.trials[0].last_result["batch_count"] == 3  # on two workers
