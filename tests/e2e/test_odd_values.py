"""Metrics and configs that are not plain data: no trial, no file and no reader fails because of them."""

from __future__ import annotations

import csv
import json

import pytest

from overtone import tune
from overtone.cli import main
from overtone.tune import ExperimentAnalysis


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("asked")


def train(config) -> None:
    import numpy as np

    circle: list[object] = [1]
    circle.append(circle)
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    for i in range(3):
        tune.report({
            "loss": 1.0 / (i + 1), "k\ud800": i, "text": "a\udfff", "nested": {"\ud800": "\ud800", 5: None},
            "digits": 10**5000, "large": 10**400, "odd": Odd(), "circle": circle, "deep": deep,
            "bytes": b"x", "complex": 1j, "long": np.longdouble(0.5), "when": np.datetime64("2026-01-01"),
            f"late{i}": i, "timesteps_total": None,
        })  # fmt: skip


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    config = {"path": "/data/\udce4.bin", "odd": Odd()}
    analysis = tune.run(
        train, name="odd", storage_path=folder, config=config, metric="large", mode="min",
        tensorboard=True, stop={"missing": 1}, verbose=0,
    )  # fmt: skip
    assert [one.status for one in analysis.trials] == ["TERMINATED"]
    assert analysis.trials[0].num_results == 3
    return folder / "odd"


def test_the_trials_files_have_every_result(experiment) -> None:
    (trial,) = [one for one in experiment.iterdir() if one.is_dir()]
    results = [json.loads(line) for line in (trial / "result.json").read_text("utf-8").splitlines()]
    assert [one["k\\ud800"] for one in results] == [0, 1, 2]
    assert results[0]["long"] == 0.5
    assert results[0]["digits"].startswith("<an integer of 16610 bits")
    with (trial / "progress.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [one["late1"] for one in rows] == ["", "1", ""]
    assert {one["text"] for one in rows} == {"a\\udfff"}
    assert any(one.name.startswith("events.out") and one.stat().st_size > 500 for one in trial.iterdir())


def test_frames_have_every_result(experiment) -> None:
    analysis = ExperimentAnalysis(experiment)
    (found,) = analysis.trial_dataframes.values()
    assert list(found["k\\ud800"]) == [0, 1, 2]
    assert set(found["nested/\\ud800"]) == {"\\ud800"}
    assert set(found["config/path"]) == {"/data/\\udce4.bin"}
    assert len(analysis.results_df) == 1


@pytest.mark.parametrize(
    "command",
    [["ls"], ["show"], ["why"], ["export"], ["export", "--format", "json"], ["best", "--metric", "loss"]],
)
def test_commands_show_them(experiment, command, capsys) -> None:
    name, *options = command
    if name == "ls":
        arguments = ["ls", str(experiment.parent)]
    else:
        trial = next(one.name for one in experiment.iterdir() if one.is_dir())
        arguments = [name, str(experiment), *([trial] if name == "why" else []), *options]
    assert main(arguments) == 0
    capsys.readouterr().out.encode()
