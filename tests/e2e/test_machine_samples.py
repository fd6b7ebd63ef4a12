"""Samples of the machine, taken while trials run."""

from __future__ import annotations

import os
import time

import pytest

from overtone import tune
from overtone.reading.machine_samples import machine_samples
from overtone.run import machine_watch
from overtone.worker.machines.ring import FOLDER


def train(config):
    ring = os.path.join(config["folder"], FOLDER)
    while not (os.path.isdir(ring) and os.listdir(ring)):
        time.sleep(0.01)
    tune.report(loss=1.0)


def quick(config):
    tune.report(loss=1.0)


def run(tmp_path, trainable, **options):
    config = {"folder": str(tmp_path / "exp")}
    tune.run(trainable, config=config, storage_path=str(tmp_path), name="exp", verbose=0, **options)
    return tmp_path / "exp"


@pytest.mark.parametrize("engine", ["local", "inline"])
def test_while_trials_run(tmp_path, monkeypatch, engine):
    monkeypatch.setattr(machine_watch, "EVERY_S", 0.02)
    began = time.time()
    folder = run(tmp_path, train, engine=engine)
    (found,) = machine_samples(folder).values()
    assert began <= found.time[0] <= time.time()
    assert 0 < found.memory_used[0] < found.memory_total[0]


def test_a_short_run_leaves_no_file(tmp_path):
    assert not (run(tmp_path, quick) / FOLDER).exists()
