"""Gangs of two ranks one after another, by Overtone and by Ray Train, in one run on one Ray cluster.

    python3 -m venv RAY_VENV && RAY_VENV/bin/pip install "ray[train,tune]==2.60.*" torch
    RAY_VENV/bin/pip install -e . && RAY_VENV/bin/python benchmarks/peer_gangs.py

Each gang is a trial of `TorchTrainer` in a `Tuner`: two ranks join a process group of gloo, add up one
number, and report it once. Trials run one after another (max_concurrent_trials=1). Ray is initialised before
the clock starts, and a search of one trial is run before each: what starts once is not in the figures.
`--engine local` runs Overtone's gangs on this machine alone, before the cluster is there; `--peer-gangs 0`
leaves Ray Train out.

Ray Train's class for a Tuner is that of its first version (RAY_TRAIN_V2_ENABLED=0): the second refuses one.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from typing import Any

os.environ["RAY_TRAIN_V2_ENABLED"] = "0"


def loop(config: dict[str, Any]) -> None:
    import torch
    import torch.distributed as dist

    if config["library"] == "ray":
        from ray import train
    else:
        from overtone import train
    number = torch.ones(1)
    dist.all_reduce(number)
    train.report({"sum": number.item()})


def search(library: str, gangs: int) -> float:
    """Return how long a search with so many gangs takes, in seconds."""
    if library == "ray":
        from ray import train, tune
        from ray.train.torch import TorchTrainer
    else:
        from overtone import train, tune
        from overtone.train.torch import TorchTrainer
    trainer = TorchTrainer(
        loop,
        train_loop_config={"library": library},
        scaling_config=train.ScalingConfig(num_workers=2, trainer_resources={"CPU": 0}),
    )
    tuner = tune.Tuner(
        trainer,
        param_space={"train_loop_config": {"x": tune.uniform(0, 1)}},
        tune_config=tune.TuneConfig(metric="sum", mode="max", num_samples=gangs, max_concurrent_trials=1),
        run_config=train.RunConfig(storage_path=tempfile.mkdtemp(prefix="bench_"), verbose=0),
    )
    began = time.perf_counter()
    results = tuner.fit()
    took_s = time.perf_counter() - began
    assert [result.metrics["sum"] for result in results] == [2.0] * gangs
    return took_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gangs", type=int, default=200)
    parser.add_argument("--peer-gangs", type=int, default=10)
    parser.add_argument("--engine", choices=["ray", "local"], default="ray")
    arguments = parser.parse_args()
    figures: dict[str, Any] = {"engine": arguments.engine}
    for library, gangs in (("overtone", arguments.gangs), ("ray", arguments.peer_gangs)):
        if not gangs:
            continue
        if arguments.engine == "ray" or library == "ray":
            import ray

            ray.init(
                num_cpus=4,
                include_dashboard=False,
                logging_level="ERROR",
                log_to_driver=False,
                ignore_reinit_error=True,
            )
        search(library, 1)
        took_s = search(library, gangs)
        figures[library] = {
            "gangs": gangs,
            "s": round(took_s, 2),
            "per_minute": round(60 * gangs / took_s, 1),
        }
        print(library, figures[library], flush=True)
    if arguments.peer_gangs:
        ratio = figures["overtone"]["per_minute"] / figures["ray"]["per_minute"]
        figures["times_as_many"] = round(ratio, 1)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
