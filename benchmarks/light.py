"""The trainables that are measured: the same code on Overtone and on its peer.

The module imports numpy and pandas, as a user's module would. BENCH_ON says whose `tune` is
imported: "overtone" (the default) or "ray".
"""

from __future__ import annotations

import importlib
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # noqa: F401  # what a user's module brings along is part of a process's start

tune: Any = importlib.import_module(os.environ.get("BENCH_ON", "overtone") + ".tune")

WORK_S = 0.001
"""How long a trial of `timed` works between two reports."""


def once(config: dict[str, Any]) -> None:
    """One result, and the end."""
    tune.report({"loss": config["x"]})


def chatty(config: dict[str, Any]) -> None:
    """`config["results"]` results, as fast as they are taken."""
    for step in range(config["results"]):
        tune.report({"loss": config["x"] / (step + 1), "accuracy": 0.5, "step": step})


def timed(config: dict[str, Any]) -> None:
    """Work, report, work, ...; the seconds that each report took go to a file."""
    took = np.empty(config["results"])
    for step in range(config["results"]):
        until = time.perf_counter() + WORK_S
        while time.perf_counter() < until:
            pass
        began = time.perf_counter()
        tune.report({"loss": config["x"] / (step + 1), "step": step})
        took[step] = time.perf_counter() - began
    np.save(Path(config["folder"], f"{os.getpid()}.npy"), took)
