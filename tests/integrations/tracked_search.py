"""A search with a tracker, as a script that a test can kill and run again."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from overtone import tune
from overtone.tune.logger.comet import CometLoggerCallback
from overtone.tune.logger.mlflow import MLflowLoggerCallback
from overtone.tune.logger.wandb import WandbLoggerCallback

GATE = os.environ.get("TRACKED_SEARCH_GATE", "")
"""A file that trials wait for after their third result."""


def train(config):
    for t in range(1, 11):
        time.sleep(config["pause_s"])
        while t == 4 and GATE and not os.path.exists(GATE):
            time.sleep(0.05)
        result = {
            "loss": (config["x"] - 3) ** 2 + 1 / t,
            "nested": {"odd": float("nan") if t == 5 else t / 3},
        }
        if t % 5:
            tune.report(result)
            continue
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model").write_text(f"x={config['x']}, t={t}")
            tune.report(result, checkpoint=tune.Checkpoint.from_directory(folder))
    if config["x"] == 5:
        raise RuntimeError("five is unlucky")


def tracker(kind, place):
    """Return the callback of a tracker that writes to `place`."""
    waits = {"mlflow": MLflowLoggerCallback, "comet": CometLoggerCallback}
    for one in waits.values():
        one.upload_timeout = 500.0  # a busy machine imports slowly
    if kind == "mlflow":
        uri = place if "://" in place else f"sqlite:///{place}/mlflow.db"
        return MLflowLoggerCallback(uri, save_artifact=True)
    if kind == "wandb":
        return WandbLoggerCallback("tests", mode="offline", upload_timeout=500.0)
    return CometLoggerCallback(online=False, offline_directory=place)


def search(folder, callbacks, pause_s=0.0, n=4):
    """Run or resume the search."""
    space = {"x": tune.grid_search(list(range(2, 2 + n))), "pause_s": pause_s}
    tune.run(
        train, config=space, metric="loss", mode="min", callbacks=callbacks, storage_path=folder, name="search",
        verbose=0, resume="AUTO", raise_on_failed_trial=False, max_concurrent_trials=2,
    )  # fmt: skip


if __name__ == "__main__":
    folder, kind, place, pause_s = sys.argv[1:]
    search(folder, [] if kind == "none" else [tracker(kind, place)], float(pause_s))
    assert not {"comet_ml", "mlflow", "wandb"} & sys.modules.keys()  # imports of seconds, in other processes
