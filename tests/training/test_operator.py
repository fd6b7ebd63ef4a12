"""The operator alone, in one process: what it registers, its loops, its results and its state."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest
import torch
from small_operators import GAN, Classifier, Random, points
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, WeightedRandomSampler

from overtone.errors import ArgumentError, TrainableError, UsageError
from overtone.train.torch.operators import checkpoint_file
from overtone.train.torch.operators.checkpoint_file import check_state, load_state, save_state
from overtone.train.torch.operators.loaders import shared_out
from overtone.train.torch.operators.operator_runner import OperatorRunner, OperatorSettings
from overtone.util.sgd.torch import TorchTrainer, TrainingOperator
from overtone.util.sgd.utils import BATCH_SIZE


def runner(operator_class, config=None, **settings):
    return OperatorRunner(OperatorSettings(operator_class, config or {}, **settings))


def parameters(one):
    return [
        parameter for model in one.operator._registered.models for parameter in model.state_dict().values()
    ]


def same(one, other):
    return all(map(torch.equal, parameters(one), parameters(other)))


def passed_through_a_file(state):
    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


# --- register ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [lambda one: one, lambda one: [one], lambda one: (one,)])
def test_register_returns_what_it_gets_in_the_same_shape(shape):
    class Shaped(Classifier):
        def setup(self, config):
            model = nn.Linear(4, 2)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
            criterion = nn.CrossEntropyLoss()
            given = [shape(one) for one in (model, optimizer, criterion, scheduler)]
            names = ("models", "optimizers", "criterion", "schedulers")
            returned = self.register(**dict(zip(names, given, strict=True)))
            assert returned == tuple(given)
            self.model, self.optimizer, self.criterion, self.scheduler = returned
            self.register_data(train_loader=DataLoader(points(8), 4))

    found = runner(Shaped, scheduler_step_freq="epoch").train_epoch()
    assert (found["num_samples"], found["epoch"], found["batch_count"]) == (8, 1, 2)
    assert list(found)[:3] == ["num_samples", "epoch", "batch_count"]


def test_criterion_and_schedulers_are_returned_if_they_were_given():
    class Bare(TrainingOperator):
        def setup(self, config):
            model = nn.Linear(1, 1)
            assert len(self.register(models=model, optimizers=torch.optim.SGD(model.parameters(), 0.1))) == 2

    operator = runner(Bare).operator
    assert (operator.criterion, operator.scheduler, operator.schedulers) == (None, None, [])
    with pytest.raises(TrainableError, match=r"registers no data to train on: call self\.register_data"):
        runner(Bare).train_epoch()


def test_order_is_device_then_precision_then_ddp(monkeypatch):
    steps = []

    class Wrapped(nn.Module):
        def __init__(self, model):
            super().__init__()
            self.module = model

    class Model(nn.Linear):
        def to(self, device):
            steps.append("device")
            return self

    def ddp(model, device_ids, ddp_args):
        steps.append(("ddp", ddp_args, hasattr(vars(model).get("forward"), "__wrapped__")))
        return Wrapped(model)

    class Operator(TrainingOperator):
        def setup(self, config):
            model = Model(1, 1)
            self.register(models=model, optimizers=torch.optim.SGD(model.parameters(), 0.1),
                          ddp_args={"find_unused_parameters": True})  # fmt: skip

    monkeypatch.setattr("overtone.train.torch.operators.training_operator.distributed", ddp)
    Operator({}, wrap_ddp=True, use_fp16=True)
    assert steps == ["device", ("ddp", {"find_unused_parameters": True}, True)]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"models": 3}, r"register\(models=3\): must be a torch\.nn\.Module"),
        ({"optimizers": []}, r"register\(optimizers=\[\]\): .* the list is empty"),
        ({"schedulers": "StepLR"}, r"register\(schedulers='StepLR'\): must be a scheduler"),
        ({"apex_args": {"opt_level": "O4"}}, r"opt_level must be one of O0, O1, O2, O3"),
        ({"apex_args": {"loss_scale": 2}}, r"'loss_scale' is not an argument of torch\.amp"),
    ],
)
def test_nonsense_is_refused(arguments, error):
    class Operator(TrainingOperator):
        def setup(self, config):
            model = nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            self.register(**{"models": model, "optimizers": optimizer, **arguments})

    with pytest.raises((UsageError, ArgumentError), match=error):
        runner(Operator)


def test_schedulers_without_a_frequency_are_a_value_error():
    with pytest.raises(ValueError, match=r'StepLR\): TorchTrainer needs scheduler_step_freq=.*"epoch"'):
        runner(Random)


def test_a_scheduler_that_needs_a_metric_steps_by_hand():
    class Plateau(Classifier):
        def schedule(self, optimizer):
            return torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)

    with pytest.raises(ArgumentError, match=r"ReduceLROnPlateau needs a metric; set .*\"manual\""):
        runner(Plateau, scheduler_step_freq="epoch")
    one = runner(Plateau, scheduler_step_freq="manual")
    one.train_epoch()
    for metric in (1.0, 2.0):
        one.update_scheduler(metric)
    assert one.operator.optimizer.param_groups[0]["lr"] == pytest.approx(0.01)


def test_several_models_need_a_loop_of_their_own():
    class Two(TrainingOperator):
        def setup(self, config):
            models = nn.Linear(1, 1), nn.Linear(1, 1)
            self.register(
                models=models, optimizers=[torch.optim.SGD(one.parameters(), 0.1) for one in models]
            )

    with pytest.raises(TrainableError, match=r"Two registers 2 models.* define train_epoch"):
        runner(Two)


def test_an_operator_without_setup_or_model_says_so():
    with pytest.raises(NotImplementedError, match=r"needs setup\(self, config\)"):
        runner(type("Nothing", (TrainingOperator,), {}))
    with pytest.raises(TrainableError, match="registered no model"):
        runner(type("Empty", (TrainingOperator,), {"setup": lambda self, config: None}))


# --- loops ---------------------------------------------------------------------------------


def test_an_epoch_as_the_article_prints_it():
    class Printed(Classifier):
        def train_epoch(self):
            losses = []
            for idx, batch in enumerate(self.train_loader):
                metrics = self.train_batch(batch, {"batch_idx": idx, "global_step": self.global_step})
                losses.append(metrics["train_loss"])
            return {"train_loss": sum(losses) / len(losses), "num_samples": 96}

    one = runner(Printed)
    assert [one.train_epoch()["epoch"] for _ in range(2)] == [1, 2]
    with pytest.raises(UsageError, match=r"num_steps=1: .*train_epoch\(self\) reads the whole loader itself"):
        one.train_epoch(1)


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        ({"train_loss": 1.0}, r"returned \['train_loss'\] without \"num_samples\""),
        (None, r"must return a dict with \"num_samples\", not NoneType"),
        ({"num_samples": 1, "x": torch.ones(2)}, r"x=.* must be a number or a tensor of one element"),
    ],
)
def test_what_a_batch_must_return(returned, error):
    class Wrong(Classifier):
        def train_batch(self, batch, batch_info):
            return returned

        def validate_batch(self, batch, batch_info):
            return returned

    for loop in (runner(Wrong).train_epoch, runner(Wrong).validate):
        with pytest.raises(UsageError, match=error):
            loop()


def test_an_epoch_must_return_a_dict():
    class Wrong(Classifier):
        def train_epoch(self, iterator, info):
            return 3

    with pytest.raises(UsageError, match=r"train_epoch\(\) must return a dict of metrics.* not int"):
        runner(Wrong).train_epoch()


def test_a_batch_gets_its_place_and_the_info():
    class Noted(Classifier):
        seen = []

        def train_batch(self, batch, batch_info):
            self.seen.append(batch_info)
            return super().train_batch(batch, batch_info)

    one = runner(Noted)
    one.train_epoch(info={"mine": 1})
    one.train_epoch(num_steps=1)
    assert [info["batch_idx"] for info in Noted.seen] == [0, 1, 2, 0]
    assert [info["global_step"] for info in Noted.seen] == [0, 1, 2, 3]
    assert [info["epoch_idx"] for info in Noted.seen] == [0, 0, 0, 1]
    assert Noted.seen[0]["mine"] == 1


def test_validation_reports_loss_and_accuracy_of_classes():
    found = runner(Classifier).validate()
    assert set(found) == {
        "num_samples", "batch_count", "val_loss", "last_val_loss", "val_accuracy", "last_val_accuracy",
    }  # fmt: skip
    assert (found["num_samples"], found["batch_count"]) == (30, 5)


def test_a_validation_on_a_few_batches_takes_none_from_the_next():
    one = runner(Classifier)
    assert one.validate(num_steps=2)["batch_count"] == 2
    assert one.validate()["num_samples"] == 30
    assert one.validate()["num_samples"] == 30


def test_num_steps_continue_within_an_epoch_and_cross_into_the_next():
    class Sums(TrainingOperator):
        def setup(self, config):
            model = nn.Linear(1, 1)
            self.register(models=model, optimizers=torch.optim.SGD(model.parameters(), 0.1))
            self.register_data(train_loader=DataLoader(list(range(10)), 1))

        def train_epoch(self, iterator, info=None):
            return {"seen": "".join(str(batch.item()) for batch in iterator)}

    one = runner(Sums)
    found = [one.train_epoch(n) for n in (None, 5, 3, 5, None, None)]
    assert [(each["seen"], each["epoch"]) for each in found] == [
        ("0123456789", 1), ("01234", 2), ("567", 2), ("89012", 3), ("3456789", 3), ("0123456789", 4),
    ]  # fmt: skip


def test_a_loop_that_leaves_batches_ends_its_epoch():
    class Hasty(Classifier):
        def train_epoch(self, iterator, info):
            return {"n": len(list(itertools.islice(iterator, 1)))}

    one = runner(Hasty)
    assert [one.train_epoch()["epoch"] for _ in range(3)] == [1, 2, 3]


def test_an_empty_loader_is_an_error():
    class Empty(Classifier):
        def setup(self, config):
            super().setup(config)
            self.register_data(train_loader=DataLoader(points(3), 4, drop_last=True))

    with pytest.raises(TrainableError, match="the loader has no batch"):
        runner(Empty).train_epoch()


@pytest.mark.parametrize(("frequency", "steps"), [("epoch", 2), ("batch", 6), ("manual", 0)])
def test_schedulers_step_when_they_should(frequency, steps):
    one = runner(Random, scheduler_step_freq=frequency)
    for _ in range(2):
        one.train_epoch()
    assert one.operator.scheduler.last_epoch == steps
    one.update_scheduler(0.5)
    assert one.operator.scheduler.last_epoch == steps + 1


def test_a_profile_has_the_parts_of_an_epoch():
    one = runner(Classifier)
    assert "profile" not in one.train_epoch()
    profile = one.train_epoch(profile=True)["profile"]
    assert {"train_epoch_s", "setup_s", "mean_fwd_s", "mean_grad_s", "mean_apply_s", "mean_epoch_s"} == set(
        profile
    )
    assert "mean_eval_fwd_s" in one.validate(profile=True)["profile"]


def test_another_dataset_replaces_the_registered_one():
    trainer, other = local(), points(64)
    found = [trainer.train(num_steps=1, dataset=one) for one in (None, other, other, None)]
    assert [each["epoch"] for each in found] == [1, 2, 2, 3]
    assert trainer.train(dataset=DataLoader(points(6), 3))["batch_count"] == 2
    assert trainer.train(dataset=points(40))["num_samples"] == 40
    with pytest.raises(UsageError, match=r"dataset=3: must be a torch\.utils\.data\.Dataset"):
        trainer.train(dataset=3)


# --- mixed precision -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use_fp16", "apex_args", "is_mixed", "advice"),
    [
        (False, None, False, ""),
        (True, None, True, ""),
        (True, {"opt_level": "O0"}, False, ""),
        (True, {"opt_level": "O1"}, True, ""),
        (True, {"opt_level": "O2"}, True, "O2"),
        (True, {"opt_level": "O3"}, True, "O3"),
        (False, {"opt_level": "O2"}, False, ""),
    ],
)
def test_mixed_precision_computes_in_bfloat16_on_a_cpu(use_fp16, apex_args, is_mixed, advice, capsys):
    inner = []

    class Net(nn.Linear):
        def forward(self, x):
            output = super().forward(x)
            inner.append(output.dtype)
            return output

    class Operator(Classifier):
        def setup(self, config):
            super().setup(config)
            model = Net(4, 2)
            self.model, self.optimizer = self.register(
                models=model, optimizers=torch.optim.SGD(model.parameters(), 0.1), apex_args=apex_args
            )

        def train_batch(self, batch, batch_info):
            assert self.model(batch[0]).dtype == torch.float32
            return super().train_batch(batch, batch_info)

    one = runner(Operator, use_fp16=use_fp16)
    assert one.operator.use_fp16 == is_mixed
    one.train_epoch()
    assert set(inner) == {torch.bfloat16 if is_mixed else torch.float32}
    assert all(parameter.dtype == torch.float32 for parameter in one.operator.model.parameters())
    printed = capsys.readouterr().err
    assert (f'"opt_level": "{advice}"' in printed) == bool(advice)
    assert printed.count("\n") == bool(advice)
    assert "forward" not in vars(one.models())


def test_scaled_gradients_are_unscaled_and_the_scale_is_kept():
    class Scaled(Classifier):
        def setup(self, config):
            super().setup(config)
            if config.get("scale"):
                self._precision.scaler = torch.amp.GradScaler("cpu", config["scale"], growth_interval=4)

    plain, scaled = runner(Classifier), runner(Scaled, {"scale": 8.0})
    for one in (plain, scaled):
        one.train_epoch(), one.train_epoch()
    assert same(plain, scaled)
    state = passed_through_a_file(scaled.state_dict())
    other = runner(Scaled, {"scale": 2.0})
    other.load_state_dict(state["shared"], [state["own"]])
    assert other.operator._precision.scaler.get_scale() == 16.0


# --- state ---------------------------------------------------------------------------------


@pytest.mark.parametrize("use_fp16", [False, True])
@pytest.mark.parametrize("num_steps", [None, 2])
def test_a_restored_operator_continues_bit_by_bit(use_fp16, num_steps):
    settings = {"scheduler_step_freq": "epoch", "use_fp16": use_fp16}
    one = runner(Random, **settings)
    one.train_epoch(), one.train_epoch(num_steps)
    state = passed_through_a_file(one.state_dict())
    expected = [one.train_epoch(num_steps), one.validate(), one.train_epoch()]
    other = runner(Random, **settings)
    other.train_epoch()
    other.load_state_dict(state["shared"], [state["own"]])
    assert [other.train_epoch(num_steps), other.validate(), other.train_epoch()] == expected
    assert same(one, other)
    assert other.operator.global_step == one.operator.global_step


def test_a_loaders_own_generator_is_part_of_the_state():
    class Own(Classifier):
        def setup(self, config):
            super().setup(config)
            generator = torch.Generator().manual_seed(5)
            self.register_data(train_loader=DataLoader(points(), 8, shuffle=True, generator=generator))

    one = runner(Own)
    one.train_epoch(), one.train_epoch(5)
    state = passed_through_a_file(one.state_dict())
    other = runner(Own)
    other.load_state_dict(state["shared"], [state["own"]])
    assert [other.train_epoch(), other.train_epoch()] == [one.train_epoch(), one.train_epoch()]


def test_hyperparameters_that_the_config_changed_count():
    one = runner(Random, {"lr": 0.1, "momentum": 0.9}, scheduler_step_freq="epoch")
    for _ in range(2):
        one.train_epoch()
    state = one.state_dict()
    other = runner(Random, {"lr": 0.4, "momentum": 0.5}, scheduler_step_freq="epoch")
    other.load_state_dict(state["shared"], [state["own"]])
    group = other.operator.optimizer.param_groups[0]
    assert (group["lr"], group["initial_lr"], group["momentum"]) == pytest.approx((0.2, 0.4, 0.5))
    for _ in range(2):
        other.train_epoch()
    assert group["lr"] == pytest.approx(0.1)


def test_schedulers_inside_others_take_up_a_changed_rate():
    class Nested(Classifier):
        def schedule(self, optimizer):
            rates = torch.optim.lr_scheduler
            parts = [rates.ConstantLR(optimizer, 0.5, 1), rates.ExponentialLR(optimizer, 0.5)]
            return rates.SequentialLR(optimizer, parts, [1])

    one, other, new = (runner(Nested, {"lr": lr}, scheduler_step_freq="epoch") for lr in (0.1, 0.4, 0.4))
    one.train_epoch(), one.train_epoch(), new.train_epoch(), new.train_epoch()
    state = one.state_dict()
    other.load_state_dict(state["shared"], [state["own"]])
    for _ in range(2):
        rates = [each.operator.optimizer.param_groups[0]["lr"] for each in (other, new)]
        assert rates[0] == pytest.approx(rates[1])
        other.train_epoch(), new.train_epoch()


def test_an_operators_own_state_is_kept():
    class Counting(Classifier):
        best = 0

        def state_dict(self):
            return {"best": self.best}

        def load_state_dict(self, state):
            self.best = state["best"]

    one, other = runner(Counting), runner(Counting)
    one.operator.best = 7
    state = passed_through_a_file(one.state_dict())
    other.load_state_dict(state["shared"], [state["own"]])
    assert other.operator.best == 7


def test_another_operators_state_is_refused():
    state = runner(GAN).state_dict()
    with pytest.raises(TrainableError, match=r"the checkpoint has 2 models, and setup\(\) registers 1"):
        runner(Classifier).load_state_dict(state["shared"], [state["own"]])


# --- data ----------------------------------------------------------------------------------


def test_validation_counts_each_sample_once_and_training_fills_up():
    loader = DataLoader(points(7), 2)
    training = [shared_out(loader, rank, 3, is_training=True) for rank in range(3)]
    validation = [shared_out(loader, rank, 3, is_training=False) for rank in range(3)]
    assert [len(part.sampler) for part in training] == [3, 3, 3]
    assert sorted(index for part in validation for index in part.sampler) == list(range(7))


def test_a_shuffled_loader_has_another_order_in_each_epoch():
    class Orders(Classifier):
        def train_epoch(self, iterator, info):
            return {"order": [int(x) for batch in iterator for x in batch]}

        def setup(self, config):
            super().setup(config)
            self.world_size = 2  # each worker reads its part alone: no process group is needed for that
            self.register_data(train_loader=DataLoader(range(8), 2, shuffle=True))

    orders = [runner(Orders, config={}).train_epoch()["order"] for _ in range(2)]
    assert orders[0] == orders[1]
    one = runner(Orders)
    first, second = one.train_epoch()["order"], one.train_epoch()["order"]
    assert len(first) == 4
    assert first != second


def test_a_sampler_that_cannot_be_split_is_an_error():
    loader = DataLoader(points(8), 2, sampler=WeightedRandomSampler(torch.ones(8), 8))
    with pytest.raises(TrainableError, match=r"WeightedRandomSampler cannot be split over 2 workers"):
        shared_out(loader, 0, 2, is_training=True)
    assert shared_out(loader, 0, 1, is_training=True) is loader


def test_iterable_data_is_left_as_it_is():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    loader = DataLoader(Stream(), 2)
    assert shared_out(loader, 0, 2, is_training=True) is loader


# --- the trainer with a worker in this process -----------------------------------------------


def local(operator_class=Classifier, **arguments):
    return TorchTrainer(training_operator_cls=operator_class, use_local=True, use_gpu=False, **arguments)


def test_a_local_trainer(tmp_path):
    trainer = local(scheduler_step_freq="epoch", operator_class=Random)
    trainer.train()
    path = trainer.save(tmp_path / "file")
    expected = trainer.train(), trainer.validate()
    other = local(scheduler_step_freq="epoch", operator_class=Random)
    other.load(path)
    assert (other.train(), other.validate()) == expected
    assert trainer.apply_all_operators(lambda operator: operator.world_size) == [1]
    assert trainer.apply_all_workers(lambda: 3) == [3]
    assert trainer.get_local_operator().global_step == 6
    assert isinstance(trainer.get_model(), nn.Sequential)
    assert isinstance(local(GAN).get_model(), list)
    trainer.shutdown()
    with pytest.raises(Exception, match="this trainer was shut down"):
        trainer.train()


def test_a_state_that_no_safe_load_would_read_is_refused(tmp_path):
    class Unsafe(Classifier):
        def state_dict(self):
            return {"loader": points(1)}

    with pytest.raises(TrainableError, match=r"holds .*TensorDataset, which a safe load refuses"):
        local(Unsafe).save(tmp_path / "file")
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"training_operator_cls": 3}, "must be a subclass of TrainingOperator"),
        ({"num_workers": 0}, r"num_workers=0: must be a whole number, 1 or more"),
        (
            {"scheduler_step_freq": "step"},
            r"scheduler_step_freq='step': must be 'epoch', 'batch', 'manual' or None",
        ),
        ({"backend": "smoke"}, r"backend='smoke': this PyTorch does not have it"),
        ({"use_gpu": "yes"}, r"use_gpu='yes': must be True, False or \"auto\""),
        (
            {"config": {BATCH_SIZE: 0}},
            r"config\[BATCH_SIZE\]=0: must be a whole number, at least num_workers=1",
        ),
    ],
)
def test_arguments_of_the_trainer_are_checked(arguments, error):
    with pytest.raises((ArgumentError, UsageError), match=error):
        TorchTrainer(**{"training_operator_cls": Classifier, "use_local": True, **arguments})


def test_gpus_that_are_not_there_are_refused_before_any_worker_starts(monkeypatch):
    monkeypatch.setattr("overtone.train.torch.operators.worker_resources.count_gpus", lambda: 1)
    with pytest.raises(
        ValueError, match=r"use_gpu=True, num_workers=2: each worker needs a GPU, and there are 1: set"
    ):
        TorchTrainer(training_operator_cls=Classifier, use_gpu=True, num_workers=2)


def test_a_trial_takes_up_another_config_in_the_middle():
    kind = TorchTrainer.as_trainable(
        training_operator_cls=Random, use_local=True, use_gpu=False, scheduler_step_freq="manual"
    )
    one = kind({"lr": 0.1})
    one.train()
    before = one.trainer.get_model().state_dict()
    assert one.reset({"lr": 0.4})
    assert one.trainer.get_local_operator().optimizer.param_groups[0]["lr"] == 0.4
    after = one.trainer.get_model().state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())
    assert one.train()["epoch"] == 2


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "state"
    save_state({"shared": 1, "workers": []}, path)
    with pytest.raises(ValueError, match="which a safe load refuses"):
        save_state({"shared": tmp_path, "workers": []}, path)
    monkeypatch.setattr(checkpoint_file, "open", no_room, raising=False)
    with pytest.raises(OSError, match="No space left"):
        save_state({"shared": torch.zeros(100_000), "workers": []}, path)
    monkeypatch.undo()
    assert load_state(path) == {"shared": 1, "workers": []}
    assert [one.name for one in tmp_path.iterdir()] == ["state"]
    path.write_text("words")
    with pytest.raises(TypeError, match=r"is not a file that TorchTrainer\.save wrote"):
        load_state(path)
    with pytest.raises(TypeError, match=r"load_state_dict\(\[\]\): must be from"):
        check_state({})


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"config": [1]}, r"config=\[1\]: must be a Mapping, such as"),
        ({"timeout_s": "5"}, "timeout_s='5': must be a number above 0, in seconds"),
    ],
)
def test_values_of_another_type_are_refused(arguments, error):
    with pytest.raises(ValueError, match=error):
        TorchTrainer(training_operator_cls=Classifier, use_gpu=False, **arguments)


def no_room(path, mode):
    Path(path).touch()
    return open("/dev/full", mode, buffering=0)


def test_creators_make_an_operator():
    made = TrainingOperator.from_creators(
        lambda config: nn.Linear(4, 2),
        lambda model, config: torch.optim.SGD(model.parameters(), config["lr"]),
        lambda config: (DataLoader(points(), 32), DataLoader(points(20), 10)),
        nn.CrossEntropyLoss,
        lambda optimizer, config: torch.optim.lr_scheduler.StepLR(optimizer, 1),
    )
    trainer = local(made, config={"lr": 0.1}, scheduler_step_freq="batch")
    assert trainer.train()["train_loss"] > trainer.train()["train_loss"]
    assert trainer.validate()["num_samples"] == 20
    with pytest.raises(UsageError, match="model_creator=None: must be a function of the config"):
        TrainingOperator.from_creators(None, None)


class Lit(nn.Module):
    """What a LightningModule has, without Lightning."""

    def __init__(self, config):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(4, 2)
        self.rate, self.hooks = config["lr"], []

    def forward(self, x):
        return self.layer(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("seen", loss)
        return {"loss": loss}

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_accuracy", (self(x).argmax(1) == y).float().mean())
        return nn.functional.cross_entropy(self(x), y)

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), self.rate)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)}

    def on_train_epoch_start(self):
        self.hooks.append("start")

    def train_dataloader(self):
        return DataLoader(points(), 32)


@pytest.mark.parametrize("use_fp16", [False, True])
def test_a_lightning_module(use_fp16):
    made = TrainingOperator.from_ptl(Lit, val_dataloader=DataLoader(points(20), 10))
    trainer = local(made, config={"lr": 0.5}, use_fp16=use_fp16)
    first, second = trainer.train(), trainer.train()
    assert second["train_loss"] < first["train_loss"] == pytest.approx(first["seen"])
    assert trainer.get_local_operator().scheduler.last_epoch == 2
    assert {"val_loss", "val_accuracy"} <= set(trainer.validate())
    model = trainer.get_model()
    assert (model.hooks, model(torch.zeros(1, 4)).shape) == (["start", "start"], (1, 2))
    assert not {"log", "forward"} & set(vars(model))


def test_a_lightning_module_with_two_optimizers_is_refused():
    class Two(Lit):
        def configure_optimizers(self):
            return [torch.optim.SGD(self.parameters(), 0.1)] * 2

    with pytest.raises(TrainableError, match="from_ptl trains one optimizer"):
        local(TrainingOperator.from_ptl(Two), config={"lr": 0.1})
    with pytest.raises(UsageError, match="must be a class of LightningModule"):
        TrainingOperator.from_ptl(nn.Linear)
