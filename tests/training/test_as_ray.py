"""A script of Ray Train runs with its imports answered by Overtone, or with one import changed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
import tempfile

import {package}
import {package}.train
import torch
from {package}.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
from {package}.train.torch import TorchTrainer
from {package}.tune.integration.ray_train import TuneReportCallback


def train_loop(config):
    context = {package}.train.get_context()
    model = {package}.train.torch.prepare_model(torch.nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    for epoch in range(2):
        optimizer.zero_grad()
        loss = model(torch.ones(4, 1)).pow(2).mean()
        loss.backward()
        optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = None
            if context.get_world_rank() == 0:
                torch.save(model.module.state_dict(), os.path.join(folder, "model.pt"))
                checkpoint = Checkpoint.from_directory(folder)
            {package}.train.report({{"loss": loss.item(), "epoch": epoch}}, checkpoint=checkpoint)


if __name__ == "__main__":
    {package}.init()
    trainer = TorchTrainer(
        train_loop,
        train_loop_config={{"lr": 0.1}},
        scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
        run_config=RunConfig(checkpoint_config=CheckpointConfig(num_to_keep=1)),
    )
    result = trainer.fit()
    with result.checkpoint.as_directory() as folder:
        names = sorted(torch.load(os.path.join(folder, "model.pt"), weights_only=True))
    print(result.metrics["epoch"], names, TorchTrainer.__module__)
"""


@pytest.mark.parametrize("package", ["ray", pytest.param("overtone", marks=pytest.mark.full)])
def test_a_script_of_ray_train_runs(package, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(package=package))
    command = [sys.executable, *(["-m", "overtone.as_ray"] if package == "ray" else []), str(script)]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=800, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last == "1 ['bias', 'weight'] overtone.train.torch.torch_trainer"
