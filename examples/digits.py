"""Search for a neural network that reads handwritten digits, with every core of this machine.

The data ship with scikit-learn: 1,797 images of 8 x 8 pixels. They are split once: trials
learn from 60 %, the search compares trials by their accuracy on another 20 %, and the last
20 % are looked at once, by the model that won.

    python examples/digits.py
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Any

from overtone import tune  # first: then Ctrl-C while the rest is imported ends without a traceback
from overtone.tune.schedulers import ASHAScheduler

# isort: split
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

REPORTS = 18
"""How often a trial reports if nothing stops it."""

SPACE = {
    "hidden": tune.choice([[64], [128], [256], [128, 64]]),
    "activation": tune.choice(["relu", "tanh"]),
    "alpha": tune.loguniform(1e-6, 1e-2),
    "batch_size": tune.choice([32, 64, 128]),
    "shift": tune.uniform(0.0, 1.0),  # in pixels: how far training images are moved at random
    "optimizer": tune.choice(
        [
            {"solver": "adam", "lr": tune.loguniform(3e-4, 1e-2)},
            {"solver": "sgd", "lr": tune.loguniform(1e-2, 0.3), "momentum": tune.uniform(0.5, 0.95)},
        ]
    ),
}


def train(config: dict[str, Any], split: dict[str, np.ndarray], passes: int) -> None:
    """Train one network, and report its validation accuracy after every few passes over the data."""
    model = network(config)
    rng = np.random.default_rng(0)
    for _ in range(REPORTS):
        for _ in range(passes):
            images = moved(split["x_train"], config["shift"], rng)
            model.partial_fit(images, split["y_train"], classes=np.arange(10))
        accuracy = float(model.score(split["x_validation"], split["y_validation"]))
        tune.report(
            {"validation_accuracy": accuracy, "loss": model.loss_},
            checkpoint=tune.Checkpoint.from_dict({"model": model}),
        )


def network(config: dict[str, Any]) -> MLPClassifier:
    """The untrained network that `config` describes."""
    optimizer = config["optimizer"]
    return MLPClassifier(
        hidden_layer_sizes=config["hidden"],
        activation=config["activation"],
        solver=optimizer["solver"],
        learning_rate_init=optimizer["lr"],
        momentum=optimizer.get("momentum", 0.9),  # read by sgd alone
        alpha=config["alpha"],
        batch_size=config["batch_size"],
        random_state=0,
    )


def moved(images: np.ndarray, far: float, rng: np.random.Generator) -> np.ndarray:
    """The images, each moved by up to `far` <= 1 pixels in both directions; shape (n, 64)."""
    grid = images.reshape(-1, 8, 8)
    for axis in (1, 2):
        by = rng.uniform(-far, far, (len(grid), 1, 1))
        padded = np.pad(grid, [(0, 0), (1, 1), (1, 1)])
        before, after = (
            (padded[:, :-2, 1:-1], padded[:, 2:, 1:-1])
            if axis == 1
            else (padded[:, 1:-1, :-2], padded[:, 1:-1, 2:])
        )
        grid = (1 - abs(by)) * grid + np.where(by > 0, by * before, -by * after)
    return grid.reshape(-1, 64)


def load_split() -> dict[str, np.ndarray]:
    """The images, scaled to 0..1, and their digits: for training, validation and test."""
    images, digits = load_digits(return_X_y=True)
    images = images / 16
    x_rest, x_test, y_rest, y_test = train_test_split(
        images, digits, test_size=0.2, stratify=digits, random_state=0
    )
    x_train, x_validation, y_train, y_validation = train_test_split(
        x_rest, y_rest, test_size=0.25, stratify=y_rest, random_state=0
    )
    return {
        "x_train": x_train,
        "y_train": y_train,
        "x_validation": x_validation,
        "y_validation": y_validation,
        "x_test": x_test,
        "y_test": y_test,
    }


def shows_page() -> bool:
    """Return whether to print the address of the dashboard: in a terminal, if the extra `ui` is installed."""
    return sys.stdout.isatty() and all(find_spec(package) for package in ("starlette", "uvicorn"))


def main() -> None:
    options = argparse.ArgumentParser(description="A search over a neural network for handwritten digits.")
    options.add_argument("--trials", type=int, default=140, help="how many configurations (%(default)s)")
    options.add_argument("--passes", type=int, default=6, help="passes over the data a report (%(default)s)")
    options.add_argument("--seed", type=int, default=1, help="of the search (%(default)s)")
    options.add_argument("--storage", help="where results go (~/overtone_results)")
    given = options.parse_args()

    split = load_split()
    analysis = tune.run(
        tune.with_parameters(train, split=split, passes=given.passes),
        config=SPACE,
        num_samples=given.trials,
        metric="validation_accuracy",
        mode="max",
        scheduler=ASHAScheduler(max_t=REPORTS, grace_period=1, reduction_factor=3),
        keep_checkpoints_num=1,
        storage_path=given.storage,
        seed=given.seed,
        ui=shows_page(),
    )
    if not all(trial.is_finished() for trial in analysis.trials):
        return  # interrupted: the last line says how to resume
    best = analysis.best_trial
    model = analysis.get_last_checkpoint(best).to_dict()["model"]
    print(f"\nBest configuration: {best.config}")
    print(f"Validation accuracy: {model.score(split['x_validation'], split['y_validation']):.4f}")
    print(f"Test accuracy: {model.score(split['x_test'], split['y_test']):.4f}")
    print(f"Results: {analysis.experiment_path}")


if __name__ == "__main__":
    main()
