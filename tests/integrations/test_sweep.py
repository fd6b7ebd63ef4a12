"""`overtone sweep` on programs as they are found: argparse, click, Hydra and W&B."""

import json
import sys

import pytest

from tests.integrations.programs import (
    await_that,
    begun,
    only_folder,
    overtone,
    processes_with,
    results,
)

ARGPARSE = """
import argparse
import time

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--layers", type=int, default=1)
parser.add_argument("--epochs", type=int, default=6)
args = parser.parse_args()
for epoch in range(args.epochs):
    loss = (args.lr - 0.1) ** 2 + args.layers / (epoch + 1)
    print(f"Epoch {epoch + 1}/{args.epochs}  val_loss: {loss:.4f}  acc: {1 - loss:.4f}")
"""

CLICK = """
import logging

import click

logging.basicConfig(level=logging.INFO)


@click.command()
@click.option("--lr", type=float)
@click.option("--opt", type=click.Choice(["sgd", "adam"]))
@click.argument("epochs", type=int)
def main(lr, opt, epochs):
    for epoch in range(epochs):
        logging.info("epoch %d: test accuracy %.3f%%", epoch, 90 - lr - epoch)


main()
"""

HYDRA = """
import hydra
from omegaconf import DictConfig


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: DictConfig):
    layers = list(cfg.model.layers)
    print(f"loss={cfg.lr * sum(layers)} name={cfg.model.name!r} extra={cfg.extra!r}")


main()
"""

SWEEP = """
# as W&B's documentation writes them
program: train.py
method: random
metric:
  name: val_loss
  goal: minimize
parameters:
  lr:
    distribution: log_uniform_values
    min: 1e-4
    max: 0.5
  layers:
    values: [1, 2, 3]
  epochs:
    value: 8
early_terminate:
  type: hyperband
  min_iter: 2
  eta: 2
run_cap: 4
"""


GATED = ARGPARSE.replace("import time\n", "import os\nimport time\n").replace(
    "    loss = ",
    """    while epoch == 3 and not os.path.exists("may_end"):
        time.sleep(0.02)
    loss = """,
)
"""The same; it waits after three epochs until there is a file `may_end`."""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "train.py").write_text(ARGPARSE)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def test_a_sweep_file_of_wandb_runs_as_it_is(project):
    pytest.importorskip("yaml")
    words = ("sweep", "sweep.yaml", "--dir", "out", "--seed", "1", "--max-concurrent", "1")
    overtone(*words, cwd=project)  # one after the other: how many are stopped depends on their order
    found = results(only_folder(project / "out"))
    lengths = sorted(len(one) for one in found.values())
    assert len(found) == 4
    assert lengths[-1] == 8  # The best trials ran to their end,
    assert lengths[0] == 2  # and the worst were stopped at the first band.
    assert {one[0]["config"]["epochs"] for one in found.values()} == {8}


def test_click_with_a_pattern_and_placeholders(project):
    pytest.importorskip("click")
    (project / "app.py").write_text(CLICK)
    space = {"method": "grid", "parameters": {"lr": {"values": [1, 2]}, "opt": {"values": ["sgd", "adam"]}}}
    (project / "space.json").write_text(json.dumps(space))
    overtone(
        "sweep", "space.json", "--dir", "out", "--metric", "acc", "--mode", "max", "--pattern",
        r"accuracy (?P<acc>[\d.]+)%", "--", sys.executable, "app.py", "--opt", "{opt}", "--lr={lr}", "2", cwd=project,
    )  # fmt: skip
    found = results(only_folder(project / "out"))
    assert sorted(one[-1]["acc"] for one in found.values()) == [87.0, 87.0, 88.0, 88.0]


def test_hydra_with_its_own_sweeps(project):
    pytest.importorskip("hydra")
    (project / "conf").mkdir()
    (project / "conf" / "config.yaml").write_text("lr: 0.1\nmodel: {name: x, layers: [1]}\n")
    (project / "app.py").write_text(HYDRA)
    overtone(
        "sweep", "--hydra", "--dir", "out", "--metric", "loss", "-n", "4", "--", sys.executable, "app.py", "--multirun",
        "lr=tag(log,interval(0.001,0.1))", "model.layers=[1,2],[3]", r"model.name='it\'s, a \"name\"'",
        "+extra=choice('a,b',null)", cwd=project,
    )  # fmt: skip
    folder = only_folder(project / "out")
    found = results(folder)
    assert len(found) == 4
    for trial, (result,) in found.items():
        config = result["config"]
        assert result["loss"] == pytest.approx(config["lr"] * sum(config["model.layers"]))
        assert (folder / trial / ".hydra" / "overrides.yaml").is_file()


def test_a_killed_sweep_goes_on(project):
    pytest.importorskip("yaml")
    (project / "slow.py").write_text(GATED)
    words = (
        "sweep",
        "sweep.yaml",
        "--dir",
        "out",
        "-n",
        "3",
        "--scheduler",
        "fifo",
        "--",
        "python",
        "slow.py",
        "--lr",
    )
    words = (*words, "{lr}", "--layers={layers}", "--epochs={epochs}")
    process = begun(*words, cwd=project, output=project / "log.txt")
    try:
        await_that(lambda: any(len(one) > 2 for one in results_now(project)), "a third result")
        mark = f"OVERTONE_EXPERIMENT={only_folder(project / 'out').name}"
        assert processes_with(mark)
    finally:
        process.kill()
        process.wait()
    await_that(lambda: not processes_with(mark), "the end of all programs")
    (project / "may_end").touch()
    overtone("resume", only_folder(project / "out"), cwd=project)
    assert "best by last value" in overtone(*words, cwd=project).stdout  # It is finished: nothing runs again.
    found = results(only_folder(project / "out"))
    assert [len(one) for one in found.values()] == [8, 8, 8]
    assert [one["training_iteration"] for one in next(iter(found.values()))] == list(range(1, 9))


def results_now(project):
    """Return the results so far; a line may be torn."""
    try:
        return list(results(only_folder(project / "out")).values())
    except ValueError:
        return []


def test_wandb_log_is_read_from_the_offline_run(project):
    pytest.importorskip("wandb")
    (project / "train.py").write_text("""
import wandb

with wandb.init(project="p") as run:
    for i in range(3):
        run.log({"val_loss": run.config["lr"] + i, "nested": {"a": i}})
""")
    (project / "sweep.json").write_text(
        json.dumps({"program": "train.py", "method": "grid", "metric": {"name": "val_loss"},
                    "command": ["${env}", "${interpreter}", "${program}"],
                    "parameters": {"lr": {"values": [1, 2]}}})
    )  # fmt: skip
    overtone("sweep", "sweep.json", "--dir", "out", cwd=project)
    found = results(only_folder(project / "out"))
    assert [[one["val_loss"] for one in trial] for trial in found.values()] == [[1, 2, 3], [2, 3, 4]]


def test_a_sweep_whose_first_trials_fail_ends(project):
    (project / "s.json").write_text('{"parameters": {"lr": {"min": 0, "max": 1.0}}, "metric": {"name": "x"}}')
    done = overtone(
        "sweep",
        "s.json",
        "--dir",
        "out",
        "--",
        "python",
        "-c",
        "raise SystemExit('no data')",
        cwd=project,
        check=False,
    )
    assert done.returncode != 0
    assert "the first 5 trials failed" in done.stderr
    assert "no data" in done.stdout + done.stderr


def agent(project, name):
    words = ("sweep", "--agent", only_folder(project / "out"), "--cpus", "1")
    return begun(*words, cwd=project, output=project / f"{name}.txt")


def test_agents_share_a_sweep_and_one_that_is_killed_loses_no_trial(project):
    (project / "slow.py").write_text(GATED)
    (project / "s.json").write_text(
        json.dumps(
            {"method": "grid", "metric": {"name": "val_loss"}, "parameters": {"lr": {"values": [1, 2, 3]}}}
        )
    )
    words = (
        "sweep",
        "s.json",
        "--dir",
        "out",
        "--agents-only",
        "--",
        "python",
        "slow.py",
        "--lr",
        "{lr}",
        "--epochs",
        "8",
    )
    driver = begun(*words, cwd=project, output=project / "driver.txt")
    agents = []
    try:
        await_that(lambda: list((project / "out").glob("*/journal.jsonl")), "the begin of the sweep")
        mark = f"OVERTONE_EXPERIMENT={only_folder(project / 'out').name}"
        agents = [agent(project, "one"), agent(project, "two")]
        await_that(lambda: len(processes_with(mark)) >= 2, "two trials at once")
        await_that(lambda: sum(map(len, results_now(project))) > 2, "results")
        agents[0].kill()
        (project / "may_end").touch()
        assert driver.wait(300) == 0
        assert agents[1].wait(300) == 0
    finally:
        for process in (driver, *agents):
            process.kill()
            process.wait()
    found = results(only_folder(project / "out"))
    assert sorted(one[-1]["config"]["lr"] for one in found.values()) == [1, 2, 3]
    assert all(one[-1]["training_iteration"] == 8 for one in found.values())
    await_that(lambda: not processes_with(mark), "the end of all programs")
    first, second = ((project / f"{name}.txt").read_text() for name in ("one", "two"))
    begun_at = [text.count(": begins") for text in (first, second)]
    assert begun_at[0] >= 1
    assert sum(begun_at) == 4  # Three trials, and one of them twice.
    assert "the sweep has ended" in second
