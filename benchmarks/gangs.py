"""The time that a gang of two ranks needs to start, and the time of its barrier, on the local engine.

    python benchmarks/gangs.py                      needs PyTorch

- start: from the head's call until both ranks are connected, and until they have added up a number by gloo,
  after the server that processes are forked from has imported torch; medians over `--gangs` trials in a row.
- barrier: how long `report()` keeps its caller in each of two ranks, less how long it keeps the caller in a
  trial without ranks; medians over `--reports` reports each, in `--rounds` turns of both.

Nothing else should run on the machine. `peer_gangs.py` has whole trials, beside Ray Train's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from typing import Any

import torch
import torch.distributed as dist

from overtone import train, tune
from overtone.core.resources import Resources
from overtone.train.data_parallel_trainer import DataParallelTrainer
from overtone.train.hosts import host_for
from overtone.train.torch.config import TorchConfig
from overtone.worker.gang.gang import Gang

BUNDLES: list[dict[str, float]] = [{"cpu": 0.5}, {"cpu": 0.5}, {"cpu": 0.5}]


def add_up(config: TorchConfig) -> float:
    with config.rank_context():
        number = torch.ones(1)
        dist.all_reduce(number)
        return number.item()


def start(config: dict[str, Any]) -> None:
    began = time.perf_counter()
    with Gang(host_for(Resources.of(BUNDLES)), 2) as gang:
        connected_s = time.perf_counter() - began
        with TorchConfig().head_context(gang):
            assert gang.call(add_up, TorchConfig()) == [2.0, 2.0]
        ready_s = time.perf_counter() - began
    tune.report({"connected_s": connected_s, "ready_s": ready_s})


def report_often(config: dict[str, Any]) -> None:
    times = []
    for number in range(config["reports"]):
        began = time.perf_counter()
        train.report({"number": number})
        times.append(time.perf_counter() - began)
    train.report({"number": -1, "median_s": statistics.median(times[10:])})


def search(trainable: Any, config: dict[str, Any], trials: int) -> list[dict[str, Any]]:
    """Return the last metrics of trials that run one after another."""
    results = tune.Tuner(
        trainable,
        param_space=config,
        tune_config=tune.TuneConfig(num_samples=trials, max_concurrent_trials=1),
        run_config=train.RunConfig(storage_path=tempfile.mkdtemp(prefix="bench_"), verbose=0),
    ).fit()
    return [result.metrics for result in results]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gangs", type=int, default=20)
    parser.add_argument("--reports", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    _, *started = search(tune.with_resources(start, BUNDLES), {}, arguments.gangs + 1)
    figures = {
        name: statistics.median(metrics[name] for metrics in started) for name in ("connected_s", "ready_s")
    }
    config = {"reports": arguments.reports}
    trainer = DataParallelTrainer(
        report_often,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.5}),
    )
    single, ranks = [], []
    for _ in range(arguments.rounds):
        single.append(search(report_often, config, 1)[0]["median_s"])
        ranks.append(search(trainer, {}, 1)[0]["median_s"])
    figures["report_ms"] = 1e3 * statistics.median(single)
    figures["report_in_ranks_ms"] = 1e3 * statistics.median(ranks)
    figures["barrier_ms"] = figures["report_in_ranks_ms"] - figures["report_ms"]
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
