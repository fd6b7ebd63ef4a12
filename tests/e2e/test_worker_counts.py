"""A training whose number of workers may vary runs with as many as the machine can hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from overtone import train, tune
from overtone.cli import main
from overtone.engines.local import Local
from overtone.train.data_parallel_trainer import DataParallelTrainer


def loop(config: dict[str, Any]) -> None:
    train.report({"size": train.get_context().get_world_size()})


def trainer() -> DataParallelTrainer:
    return DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=(1, 4)))


def test_a_trial_starts_with_the_workers_that_fit(tmp_path: Path, capsys: Any) -> None:
    run = tune.RunConfig(storage_path=str(tmp_path), name="exp", verbose=0, engine=Local(cpus=3))
    results = tune.Tuner(trainer(), run_config=run).fit()
    assert not results.errors
    assert results[0].metrics["size"] == 3
    assert main(["why", str(tmp_path / "exp"), "00000"]) == 0
    assert "3 workers, as many as the nodes can hold" in capsys.readouterr().out
