from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis


def train(config):
    for t in (1, 2, 3):
        with tune.checkpoint_dir(step=t) as folder:
            Path(folder, "weights").write_text(f"{config['x']} {t}")
            Path(folder, "layers").mkdir()
            Path(folder, "layers", "a b\n\\").write_text("c")
        tune.report(loss=config["x"] + abs(t - 2), other=t)


SPACE = {"x": tune.grid_search([2, 1]), "pair": (1, 2), "when": datetime(2026, 1, 2), "kind": Path}


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """An experiment of two trials with three checkpoints each: trial 1 is the best, at iteration 2."""
    return tune.run(
        train, config=SPACE, metric="loss", mode="min", name="exp", verbose=0, engine="inline", files=False,
        storage_path=tmp_path_factory.mktemp("results"),
    )  # fmt: skip


@pytest.fixture
def analysis(ran) -> ExperimentAnalysis:
    return ExperimentAnalysis(ran.experiment_path)


@pytest.fixture
def pack(analysis, tmp_path) -> Path:
    analysis.pack(tmp_path / "pack")
    return tmp_path / "pack"
