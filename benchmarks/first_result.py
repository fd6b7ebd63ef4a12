"""The smallest search: what is timed from the start of Python to its first result on disk."""

import importlib
import os
import sys

tune = importlib.import_module(os.environ.get("BENCH_ON", "overtone") + ".tune")


def train(config):
    tune.report({"loss": config["x"]})


if __name__ == "__main__":
    space = {"x": tune.uniform(0, 1)}
    tune.run(train, config=space, metric="loss", mode="min", storage_path=sys.argv[1], name="first")
