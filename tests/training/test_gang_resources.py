"""Gangs and resources: never too many at once, never in part, and each rank has its own devices."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

import overtone
from overtone import train, tune
from overtone.errors import OvertoneError
from overtone.train import RunConfig, ScalingConfig
from overtone.train.data_parallel_trainer import DataParallelTrainer

QUIET = RunConfig(verbose=0)


@pytest.fixture
def machine():
    """Declare the resources of this machine, until the test ends."""
    yield overtone.init
    overtone.shutdown()


def meet(config):
    """Note when this rank began and ended; the first two gangs wait for each other."""
    context, folder = train.get_context(), Path(config["folder"])
    began = time.monotonic()
    folder.joinpath(f"{context.get_trial_id()}-{context.get_world_rank()}.begun").touch()
    while len(list(folder.glob("*.begun"))) < 4:
        time.sleep(0.02)
    train.report({"met": 1})
    place = folder / f"{context.get_trial_id()}-{context.get_world_rank()}"
    place.write_text(f"{began} {time.monotonic()}")


def test_eight_gangs_of_two_on_four_cpus_are_two_at_a_time(machine, tmp_path):
    machine(num_cpus=4)
    notes = tmp_path / "notes"
    notes.mkdir()
    tuner = tune.Tuner(
        DataParallelTrainer(meet, scaling_config=ScalingConfig(num_workers=2)),
        param_space={"train_loop_config": {"folder": str(notes)}},
        tune_config=tune.TuneConfig(metric="met", mode="max", num_samples=8),
        run_config=QUIET,
    )
    results = tuner.fit()
    assert [result.metrics["met"] for result in results] == [1] * 8
    times = [tuple(map(float, path.read_text().split())) for path in notes.glob("*-[01]")]
    assert len(times) == 16
    changes = sorted([(began, 1) for began, _ in times] + [(ended, -1) for _, ended in times])
    running = most = 0
    for _, change in changes:
        running += change
        most = max(most, running)
    assert most == 4  # never over four, and the machine was used


def note_devices(config):
    context = train.get_context()
    place = Path(config["folder"], f"{context.get_trial_id()}-{context.get_world_rank()}")
    place.write_text(os.environ.get("CUDA_VISIBLE_DEVICES", "none"))
    train.report({"ok": 1})


def test_each_rank_sees_the_gpu_of_its_own_bundle_alone(machine, tmp_path):
    machine(num_cpus=4, num_gpus=4)
    notes = tmp_path / "notes"
    notes.mkdir()
    tuner = tune.Tuner(
        DataParallelTrainer(note_devices, scaling_config=ScalingConfig(num_workers=2, use_gpu=True)),
        param_space={"train_loop_config": {"folder": str(notes)}},
        tune_config=tune.TuneConfig(metric="ok", mode="max", num_samples=3),
        run_config=QUIET,
    )
    assert all(result.error is None for result in tuner.fit())
    seen = {path.name: path.read_text() for path in notes.iterdir()}
    assert len(seen) == 6
    assert all(devices in {"0", "1", "2", "3"} for devices in seen.values())
    for name, devices in seen.items():
        if name.endswith("-0"):
            assert devices != seen[f"{name[:-2]}-1"]


def test_gpus_that_are_not_there_are_refused_before_any_rank_starts(machine, tmp_path):
    machine(num_cpus=4, num_gpus=0)
    trainer = DataParallelTrainer(
        note_devices,
        train_loop_config={"folder": str(tmp_path)},
        scaling_config=ScalingConfig(num_workers=2, use_gpu=True),
        run_config=QUIET,
    )
    with pytest.raises(OvertoneError, match="use_gpu=False"):
        trainer.fit()
    assert not list(tmp_path.glob("*-0"))


def test_two_ranks_on_parts_of_one_gpu_are_refused_for_nccl(machine):
    pytest.importorskip("torch")
    from overtone.train.torch import TorchConfig, TorchTrainer

    machine(num_cpus=4, num_gpus=1)
    trainer = TorchTrainer(
        note_devices,
        torch_config=TorchConfig(backend="nccl"),
        scaling_config=ScalingConfig(
            num_workers=2, use_gpu=True, resources_per_worker={"CPU": 1, "GPU": 0.5}
        ),
        run_config=QUIET,
    )
    with pytest.raises(OvertoneError, match=r"rank [01].*rank [01].*gloo"):
        trainer.fit()
