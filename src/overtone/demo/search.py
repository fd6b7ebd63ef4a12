"""The search of the demo: 60 networks that learn to read digits. `python -m overtone.demo.search FOLDER`.

The folder's name is the experiment's. If it has an experiment, that is resumed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from overtone import tune
from overtone.demo import SUPERVISOR
from overtone.demo.digits import draw
from overtone.demo.network import Network
from overtone.tune.schedulers import ASHAScheduler
from overtone.worker.process_tree import die_with_parent, stay_out_of_job_control

N_TRIALS = 60
REPORTS = 27
"""Reports of a trial that nothing stops."""

PASSES = 13
"""Passes over the images between two reports on up to two cores; more cores do more. Two take 50 s in all."""

MOST_PASSES = 6 * PASSES

LEAST_SLOTS = 4
"""Trials at a time, also on fewer cores: the first trials have others to be compared with."""

NOISE = 0.2

SPACE = {
    "lr": tune.loguniform(1e-4, 1.0),
    "momentum": tune.uniform(0.0, 0.98),
    "hidden": tune.lograndint(4, 257),
    "activation": tune.choice(["relu", "tanh"]),
    "batch_size": tune.choice([16, 32, 64, 128]),
    "weight_decay": tune.loguniform(1e-6, 0.1),
}


def train(config: dict[str, Any], data: dict[str, Any], passes: int) -> None:
    """Train one network; report its validation accuracy after every few passes, and save its weights."""
    images, digits = data["images"], data["digits"]
    network = Network(images.shape[1], config["hidden"], config["activation"], seed=0)
    first = 0
    if checkpoint := tune.get_checkpoint():
        saved = checkpoint.to_dict()
        network.restore(saved["network"])
        first = saved["reports"]
    for report in range(first, REPORTS):
        rng = np.random.default_rng(report)  # the same after a resume
        with np.errstate(all="ignore"):  # a high learning rate may diverge: its accuracy says so
            for _ in range(passes):
                noise = rng.standard_normal(images.shape, np.float32)
                loss = network.train(images + np.float32(NOISE) * noise, digits, config, rng)
            accuracy = network.accuracy(data["validation_images"], data["validation_digits"])
        tune.report(
            {"accuracy": accuracy, "loss": loss},
            checkpoint=tune.Checkpoint.from_dict({"network": network.state(), "reports": report + 1}),
        )


def load() -> dict[str, Any]:
    """Draw the images: 3,000 to learn from, to which each pass adds noise, and 2,000 for validation."""
    images, digits = draw(3000, seed=0, noise=0.0)
    validation_images, validation_digits = draw(2000, seed=1, noise=NOISE)
    return {
        "images": images,
        "digits": digits,
        "validation_images": validation_images,
        "validation_digits": validation_digits,
    }


def passes_on(n_cpus: int) -> int:
    """Return the passes between two reports, so that more cores do not end the search in seconds."""
    return min(max(PASSES, PASSES * n_cpus // 2), MOST_PASSES)


def main() -> int:
    """Run the search, or resume it; return 130 if it was interrupted."""
    parser = argparse.ArgumentParser(description="The search of overtone demo.")
    parser.add_argument("folder", type=Path, help="the experiment's folder")
    parser.add_argument("--trials", type=int, default=N_TRIALS, help="the number of networks (%(default)s)")
    parser.add_argument("--passes", type=int, help="passes over the images between two reports")
    given = parser.parse_args()
    if supervisor := os.environ.get(SUPERVISOR):
        stay_out_of_job_control()
        die_with_parent(signal.SIGINT)
    data = load()
    if supervisor:
        sys.stdin.read()  # until the supervisor has printed the page's address
        if os.getppid() != int(supervisor):
            return 130
    n_cpus = os.cpu_count() or 1
    passes = given.passes or passes_on(n_cpus)
    analysis = tune.run(
        tune.with_parameters(train, data=data, passes=passes),
        name=given.folder.name,
        storage_path=given.folder.absolute().parent,
        config=SPACE,
        num_samples=given.trials,
        resources_per_trial={"cpu": min(1.0, n_cpus / LEAST_SLOTS)},
        metric="accuracy",
        mode="max",
        scheduler=ASHAScheduler(max_t=REPORTS, grace_period=1, reduction_factor=3),
        keep_checkpoints_num=1,
        resume="AUTO",
        seed=1,
    )
    return 0 if all(trial.is_finished() for trial in analysis.trials) else 130


if __name__ == "__main__":
    sys.exit(main())
