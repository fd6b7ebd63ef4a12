"""Runs that share a Ray cluster: the slots of each over time, and what sharing costs; prints tables.

It is run by a Python that has Overtone and Ray. The cluster is this machine, with 8 CPUs declared,
and its trials sleep. Each run is a driver of its own.
"""

from __future__ import annotations

import argparse
import logging
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SLOTS = 8
APART_S = 2.0
MOST_OFF = 0.25
"""The slots of a run, on average, differ from an equal share by no more than this."""

MOST_LOST = 0.05
"""Runs that share the cluster do no less work than one run does alone, but for this."""

DRIVER = """
import json, os, sys, time

folder, nap_s, lasts_s, priority = sys.argv[1], *map(float, sys.argv[2:])

def nap(config):
    import os, time
    from overtone import tune

    began = time.time()
    time.sleep(nap_s)
    line = f"{began} {time.time()}\\n".encode()
    file = os.open(os.path.join(folder, "trials"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line)
    os.close(file)
    tune.report({"loss": 0.0})

from overtone import tune

tune.run(
    nap, num_samples=-1, time_budget_s=lasts_s, metric="loss", mode="min", verbose=0, tensorboard=False,
    storage_path=folder, name="run", resources_per_trial={"cpu": 1}, reuse_actors=True,
    engine=tune.ray_cluster(priority=priority),
)
"""


@dataclass
class Run:
    """A driver, and what its trials did."""

    began: float
    process: subprocess.Popen[bytes]
    folder: Path

    def trials(self) -> list[tuple[float, float]]:
        """(begin, end) of each trial that has ended."""
        file = self.folder / "trials"
        lines = file.read_text().splitlines() if file.exists() else []
        return sorted((float(line.split()[0]), float(line.split()[1])) for line in lines)


def start(root: Path, name: str, nap_s: float, lasts_s: float, priority: float = 0) -> Run:
    """Start a driver."""
    folder = root / name
    folder.mkdir(parents=True)
    script = root / "driver.py"
    script.write_text(DRIVER)
    command = [sys.executable, str(script), str(folder), str(nap_s), str(lasts_s), str(priority)]
    return Run(time.time(), subprocess.Popen(command), folder)


def held(trials: list[tuple[float, float]], since: float, until: float) -> float:
    """How many trials ran at once, on average."""
    return sum(max(0.0, min(end, until) - max(begin, since)) for begin, end in trials) / (until - since)


def refilled(ended: Run, other: Run) -> float:
    """Seconds from the end of the last trial of one run until the other uses all slots; infinite if never."""
    since = max(end for _, end in ended.trials())
    trials = other.trials()
    for now, _ in trials:
        if now >= since and sum(begin <= now < end for begin, end in trials) >= SLOTS:
            return now - since
    return float("inf")


def alone(root: Path, nap_s: float, lasts_s: float) -> float:
    """Slots in use while one run has the cluster for itself."""
    run = start(root, "alone", nap_s, lasts_s)
    run.process.wait()
    trials = run.trials()
    return held(trials, trials[0][0] + nap_s, trials[-1][0])


def share(root: Path, n_runs: int, nap_s: float, lasts_s: float) -> tuple[list[Run], float, float]:
    """Runs that begin one after another; the times since which all have run, and until which."""
    runs = []
    for index in range(n_runs):
        runs.append(start(root, f"run{index}", nap_s, lasts_s + APART_S * (n_runs - index)))
        time.sleep(APART_S if index < n_runs - 1 else 0)
    for run in runs:
        run.process.wait()
    since = max(run.trials()[0][0] for run in runs) + nap_s
    return runs, since, min(run.trials()[-1][0] for run in runs)


def main() -> None:
    options = argparse.ArgumentParser(description="Fair shares, work and priorities of runs on one cluster.")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--nap", type=float, default=1.0, help="seconds a trial lasts")
    options.add_argument("--lasts", type=float, default=40.0, help="seconds that the runs last")
    given = options.parse_args()
    import ray

    ray.init(
        address="local", num_cpus=SLOTS, include_dashboard=False, logging_level=logging.ERROR,
        object_store_memory=80_000_000, log_to_driver=False,
    )  # fmt: skip
    os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
    with tempfile.TemporaryDirectory(prefix="sharing_") as folder:
        is_good = report(Path(folder), given.runs, given.nap, given.lasts)
    ray.shutdown()
    sys.exit(0 if is_good else 1)


def report(root: Path, n_runs: int, nap_s: float, lasts_s: float) -> bool:
    """Print the figures; return whether they are within the bounds."""
    single = alone(root, nap_s, lasts_s)
    print(f"one run alone: {single:.2f} of {SLOTS} slots in use", flush=True)
    runs, since, until = share(root / "shared", n_runs, nap_s, lasts_s)
    equal = SLOTS / n_runs
    print(f"{n_runs} runs that begin {APART_S:g} s apart, over {until - since:.0f} s in which all run:")
    slots = [held(run.trials(), since, until) for run in runs]
    for index, (run, mine) in enumerate(zip(runs, slots, strict=True)):
        first = run.trials()[0][0] - run.began
        print(f"  run {index}: {mine:.2f} slots ({mine / equal - 1:+.0%}), first trial after {first:.1f} s")
    lost = 1 - sum(slots) / single
    print(f"  together {sum(slots):.2f} slots, {lost:.1%} less than one run alone", flush=True)
    is_fair = all(abs(mine / equal - 1) <= MOST_OFF for mine in slots) and lost <= MOST_LOST
    return priority(root / "priority", nap_s, lasts_s) and is_fair


def priority(root: Path, nap_s: float, lasts_s: float) -> bool:
    """Print who starts trials once a run of priority 5 has joined one of priority 0; whether only it does."""
    low = start(root, "low", nap_s, lasts_s)
    time.sleep(lasts_s / 4)
    high = start(root, "high", nap_s, lasts_s / 4, priority=5)
    high.process.wait()
    low.process.wait()
    starts = [begin for begin, _ in high.trials()]
    until = starts[-1]
    # the first trial of the high run starts when a slot was handed over: every later slot is its own
    late = [begin for begin, _ in low.trials() if starts[0] < begin < until]
    print(f"priority 5 beside 0: {len(starts)} and {len(late)} trials started after the first of priority 5")
    print(f"  slots of the run that ended: in use by the other one after {refilled(high, low):.2f} s")
    return not late


if __name__ == "__main__":
    main()
