"""Training with PyTorch in two ranks: what the trainer hands to them, and what its helpers prepare."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from subject import IS_RAY, covers, part, train

pytest.importorskip("torch")
pytestmark = pytest.mark.timeout(180)


def rows(count):
    """A dataset of the subject's kind, with the columns `id`."""
    if IS_RAY:
        import ray.data

        return ray.data.range(count)
    return [{"id": number} for number in range(count)]


def fit(tmp_path, loop, **arguments):
    """Train in two ranks; return the result and what each rank noted with `note`."""
    library = part("train.torch")
    (tmp_path / "notes").mkdir()
    given = {
        "train_loop_config": {"notes": str(tmp_path / "notes")},
        "scaling_config": train.ScalingConfig(num_workers=2),
        "run_config": train.RunConfig(name="trained", storage_path=str(tmp_path), verbose=0),
        **arguments,
    }
    result = library.TorchTrainer(loop, **given).fit()
    notes = [
        json.loads((tmp_path / "notes" / name).read_text()) for name in sorted(os.listdir(tmp_path / "notes"))
    ]
    return result, notes


def note(config, **facts):
    """Write what a rank sees."""
    rank = train.get_context().get_world_rank()
    Path(config["notes"], f"{rank}.json").write_text(json.dumps(facts))


@covers(
    "train.torch",
    "train.torch.TorchTrainer: train_loop_per_worker train_loop_config scaling_config run_config torch_config datasets dataset_config metadata resume_from_checkpoint",
    "train.torch.TorchConfig: backend timeout_s",
    "train.TrainContext.get_metadata",
)  # fmt: skip
def test_ranks_get_what_the_trainer_got(tmp_path):
    library = part("train.torch")

    def loop(config):
        from torch import distributed

        with train.get_checkpoint().as_directory() as folder:
            begun = Path(folder, "epoch").read_text()
        group = distributed.group.WORLD._get_backend(__import__("torch").device("cpu"))
        note(
            config,
            lr=config["lr"],
            size=distributed.get_world_size(),
            backend=distributed.get_backend(),
            timeout_s=group.options._timeout.total_seconds(),
            metadata=train.get_context().get_metadata(),
            begun=begun,
            learned=[row["id"] for row in train.get_dataset_shard("learned").iter_rows()],
            held_out=[row["id"] for row in train.get_dataset_shard("held_out").iter_rows()],
        )
        train.report({"lr": config["lr"]})

    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "epoch").write_text("7")
    result, notes = fit(
        tmp_path,
        loop,
        train_loop_config={"notes": str(tmp_path / "notes"), "lr": 0.5},
        torch_config=library.TorchConfig(backend="gloo", timeout_s=77),
        datasets={"learned": rows(8), "held_out": rows(4)},
        dataset_config=train.DataConfig(datasets_to_split=["learned"]),
        metadata={"who": "Ada"},
        resume_from_checkpoint=train.Checkpoint.from_directory(str(tmp_path / "begun")),
    )
    assert result.metrics["lr"] == 0.5
    assert Path(result.path).is_relative_to(tmp_path / "trained")
    assert len(notes) == 2
    for one in notes:
        assert (one["lr"], one["size"], one["backend"], one["begun"]) == (0.5, 2, "gloo", "7")
        assert timedelta(seconds=one["timeout_s"]) == timedelta(seconds=77)
        assert one["metadata"] == {"who": "Ada"}
        assert sorted(one["held_out"]) == [0, 1, 2, 3]
    assert sorted(notes[0]["learned"] + notes[1]["learned"]) == list(range(8))
    assert len(notes[0]["learned"]) == len(notes[1]["learned"]) == 4


@covers("train.torch.TorchConfig: init_method")
def test_an_unknown_way_to_meet_is_refused(tmp_path):
    library = part("train.torch")

    def loop():
        train.report({"loss": 1.0})

    with pytest.raises(Exception) as raised:  # the config's own error, or that of a training that failed
        fit(tmp_path, loop, torch_config=library.TorchConfig(init_method="pigeon"))
    reasons = [raised.value, raised.value.__cause__, raised.value.__context__]
    assert any("init_method" in str(one) for one in reasons)


@covers(
    "train.torch.prepare_model: model move_to_device parallel_strategy parallel_strategy_kwargs",
    "train.torch.prepare_data_loader: data_loader add_dist_sampler",
    "train.torch.enable_reproducibility: seed",
    "train.torch.get_device",
    "train.torch.get_devices",
    "train.torch.prepare_optimizer: optimizer",
    "train.torch.backward: tensor",
)
def test_models_and_loaders_are_prepared_for_the_ranks(tmp_path):
    library = part("train.torch")

    def loop(config):
        import torch
        from torch.nn.parallel import DistributedDataParallel
        from torch.utils.data import DataLoader

        def drawn(seed):
            library.enable_reproducibility(seed)
            return torch.rand(3).tolist()

        def seen(**arguments):
            loader = library.prepare_data_loader(DataLoader(list(range(8)), batch_size=2), **arguments)
            return sorted(int(value) for batch in loader for value in batch)

        plain = torch.nn.Linear(2, 1)
        alone = library.prepare_model(plain, parallel_strategy=None)
        optimizer = library.prepare_optimizer(torch.optim.SGD(plain.parameters(), lr=0.5))
        bias = plain.bias.item()
        library.backward(alone(torch.ones(1, 2)).sum())
        optimizer.step()
        away = library.prepare_model(
            torch.nn.Linear(2, 1), move_to_device=torch.device("meta"), parallel_strategy=None
        )
        ranked = library.prepare_model(
            torch.nn.Linear(2, 1), parallel_strategy_kwargs={"find_unused_parameters": True}
        )
        usual = library.prepare_model(torch.nn.Linear(2, 1), parallel_strategy="ddp")
        note(
            config,
            is_same=alone is plain,
            step=plain.bias.item() - bias,
            devices=[str(next(one.parameters()).device) for one in (alone, away)],
            are_parallel=[isinstance(one, DistributedDataParallel) for one in (alone, ranked, usual)],
            looks_for_unused=[ranked.find_unused_parameters, usual.find_unused_parameters],
            whole=seen(add_dist_sampler=False),
            part=seen(),
            drawn=[drawn(1), drawn(1), drawn(2)],
            device=str(library.get_device()),
            more=[str(one) for one in library.get_devices()],
        )
        train.report({"done": 1})

    _, notes = fit(tmp_path, loop)
    for one in notes:
        assert one["is_same"]
        assert one["step"] == pytest.approx(-0.5)
        assert one["devices"] == ["cpu", "meta"]
        assert one["are_parallel"] == [False, True, True]
        assert one["looks_for_unused"] == [True, False]
        assert one["whole"] == list(range(8))
        assert one["drawn"][0] == one["drawn"][1] != one["drawn"][2]
        assert (one["device"], one["more"]) == ("cpu", ["cpu"])
    assert len(notes) == 2
    assert sorted(notes[0]["part"] + notes[1]["part"]) == list(range(8))


@covers(
    "train.torch.TorchCheckpoint.from_model: model",
    "train.torch.TorchCheckpoint.from_state_dict: state_dict",
    "train.torch.TorchCheckpoint.get_model: model",
    "train.torch.TorchCheckpoint.MODEL_FILENAME",
)
def test_a_checkpoint_holds_a_model():
    import torch

    library = part("train.torch")
    model = torch.nn.Linear(2, 1)
    of_state = library.TorchCheckpoint.from_state_dict(model.state_dict())
    back = of_state.get_model(torch.nn.Linear(2, 1))
    assert torch.equal(back.weight, model.weight)
    with of_state.as_directory() as folder:
        assert library.TorchCheckpoint.MODEL_FILENAME in os.listdir(folder)
    whole = library.TorchCheckpoint.from_model(model)
    assert isinstance(whole, train.Checkpoint)
    with whole.as_directory() as folder:
        saved = torch.load(Path(folder, library.TorchCheckpoint.MODEL_FILENAME), weights_only=False)
    assert torch.equal(saved.weight, model.weight)
