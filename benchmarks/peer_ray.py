"""The workloads on Ray Tune, in a Python of its own: `pip install "ray[tune]==2.60.*" pandas`.

Two differences from `workloads.py`: Ray is initialised before the clock starts, and which
loggers write is chosen by name, since Ray has no argument for it.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ |= {"BENCH_ON": "ray", "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1"}
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # else a warning on each start
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])

import workloads


def run(
    trainable: Callable[..., Any],
    config: dict[str, Any],
    samples: int,
    tensorboard: bool = False,
    **arguments: Any,
) -> Path:
    """As `workloads.run`, on Ray Tune."""
    from ray import tune
    from ray.tune.logger import CSVLoggerCallback, JsonLoggerCallback, TBXLoggerCallback

    root = Path(tempfile.mkdtemp(prefix="bench_"))
    loggers = [CSVLoggerCallback(), JsonLoggerCallback(), *([TBXLoggerCallback()] if tensorboard else [])]
    tune.run(
        trainable,
        config={"x": tune.uniform(0, 1), **config},
        num_samples=samples,
        metric="loss",
        mode="min",
        max_concurrent_trials=2,
        resources_per_trial={"cpu": 1},
        storage_path=str(root),
        name="bench",
        callbacks=loggers,
        **arguments,
    )
    return root / "bench"


def initialised(function: Callable[..., dict[str, float]]) -> Callable[..., dict[str, float]]:
    """The workload, with Ray initialised before it starts and shut down after it."""

    def wrapped(**arguments: Any) -> dict[str, float]:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level=logging.ERROR)
        try:
            return function(**arguments)
        finally:
            ray.shutdown()

    return wrapped


if __name__ == "__main__":
    workloads.run = run
    searches = {name: initialised(function) for name, function in workloads.FUNCTIONS.items()}
    workloads.main({**searches, "imports": workloads.imports})
