"""Overtone's Ray engine beside Ray Tune, on one cluster in one run; prints a table.

It is run by a Python that has both: `pip install "ray[tune]==2.60.*" pandas tensorboardX` and
Overtone. The cluster is this machine, with as many CPUs declared as a figure needs; trials of
both sides come from `light.py` and from here, and write the same files.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np  # noqa: F401  # what a user's module brings along is part of a process's start
import pandas as pd  # noqa: F401

os.environ["TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"] = "1"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"  # else a warning on each start
HERE = str(Path(__file__).parent)
os.environ["PYTHONPATH"] = os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])

Found = dict[str, float]


@dataclass(frozen=True)
class Side:
    """Overtone or Ray Tune: its `tune`, and what differs between the two."""

    name: str

    @property
    def tune(self) -> Any:
        from importlib import import_module

        return import_module("overtone.tune" if self.name == "overtone" else "ray.tune")

    def run(self, trainable: Callable[..., Any], samples: int, cpus: float = 1.0, **arguments: Any) -> Path:
        """Search in a temporary folder, a trial on so many CPUs; returns the folder."""
        return self.run_as_it_is(trainable, samples, resources_per_trial={"cpu": cpus}, **arguments)

    def run_as_it_is(self, trainable: Callable[..., Any], samples: int, **arguments: Any) -> Path:
        """The same, where the trainable says what it needs."""
        root = Path(tempfile.mkdtemp(prefix="bench_"))
        if self.name == "overtone":
            arguments |= {"tensorboard": False, "files": True, "engine": "ray"}
        else:
            from ray.tune.logger import CSVLoggerCallback, JsonLoggerCallback

            arguments |= {"callbacks": [CSVLoggerCallback(), JsonLoggerCallback()]}
        self.tune.run(
            trainable,
            config={"x": self.tune.uniform(0, 1), **arguments.pop("config", {})},
            num_samples=samples,
            metric="loss",
            mode="min",
            storage_path=str(root),
            name="bench",
            verbose=0,
            **arguments,
        )
        return root / "bench"


def once(side: Side, uses_ray: bool = False) -> Callable[..., Any]:
    """A trial that reports once."""
    tune = side.tune

    def light_once(config: dict[str, Any]) -> None:

        tune.report({"loss": config["x"]})

    return tune.with_resources(light_once, {"cpu": 1}, ray=True) if uses_ray else light_once


def chatty(side: Side) -> Callable[..., Any]:
    """A trial that reports as fast as it can."""
    tune = side.tune

    def light_chatty(config: dict[str, Any]) -> None:
        for step in range(config["results"]):
            tune.report({"loss": config["x"] / (step + 1), "accuracy": 0.5, "step": step})

    return light_chatty


def sleepy(side: Side) -> Callable[..., Any]:
    """A trial that sleeps a second and says when it began."""
    tune = side.tune

    def light_sleepy(config: dict[str, Any]) -> None:
        import time

        began = time.time()
        time.sleep(1)
        tune.report({"loss": config["x"], "began": began, "ended": time.time()})

    return light_sleepy


def ticking(side: Side) -> Callable[..., Any]:
    """A trial that reports once a second for as long as it is told."""
    tune = side.tune

    def light_ticking(config: dict[str, Any]) -> None:
        import time

        until = time.time() + config["lasts_s"]
        while time.time() < until:
            time.sleep(1)
            tune.report({"loss": config["x"], "at": time.time()})

    return light_ticking


def trials(side: Side, size: int, reuse: bool, uses_ray: bool = False) -> Found:
    """Trials a second, two at once."""
    began = time.perf_counter()
    side.run(once(side, uses_ray), size, reuse_actors=reuse, max_concurrent_trials=2)
    return {"value": size / (time.perf_counter() - began)}


def results(side: Side, size: int) -> Found:
    """Results a second: two trials that report `size` times each; and how many are missing."""
    began = time.perf_counter()
    folder = side.run(chatty(side), 2, config={"results": size}, max_concurrent_trials=2)
    took = time.perf_counter() - began
    found = sum(file.read_bytes().count(b"\n") for file in folder.glob("*/result.json"))
    return {"value": 2 * size / took, "lost": 2 * size - found}


def overhead(side: Side, size: int, slots: int) -> Found:
    """Time over the ideal, from the first trial's begin on, of trials that sleep a second."""
    folder = side.run(sleepy(side), size, max_concurrent_trials=slots)
    said = [json.loads(file.read_text().splitlines()[-1]) for file in folder.glob("*/result.json")]
    took = max(one["ended"] for one in said) - min(one["began"] for one in said)
    return {"value": 100 * (took / (-(-size // slots)) - 1)}


def alive(side: Side, size: int, lasts_s: float) -> Found:
    """The most trials that were in the same second between their first and their last result."""
    folder = side.run(ticking(side), size, cpus=0.01, config={"lasts_s": lasts_s}, reuse_actors=False)
    steps: list[tuple[float, int]] = []
    late: list[float] = []
    for file in folder.glob("*/result.json"):
        at = [json.loads(line)["at"] for line in file.read_text().splitlines()]
        steps += [(at[0], 1), (at[-1], -1)]
        late += [b - a for a, b in itertools.pairwise(at)]
    now = most = 0
    for _, step in sorted(steps):
        now += step
        most = max(most, now)
    return {"value": most, "interval_s": statistics.median(late)}


def joined(side: Side) -> Found:
    """Seconds from when Ray knows of a node to the first trial on it, and those of a plain actor there."""
    import subprocess
    import threading

    import ray
    from ray._common.utils import reset_ray_address

    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus=2",
        '--resources={"joins": 2}',
        f"--address={ray.get_runtime_context().gcs_address}", "--object-store-memory=80000000",
    ]  # fmt: skip
    said: list[Path] = []
    waits = side.tune.with_resources(sleepy(side), {"cpu": 1, "joins": 1})
    search = threading.Thread(target=lambda: said.append(side.run_as_it_is(waits, 4)))
    search.start()
    time.sleep(3)  # its trials wait
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as node:
        while not any(one["Alive"] and "joins" in one["Resources"] for one in ray.nodes()):
            time.sleep(0.01)
        alive = time.time()
        search.join()

        @ray.remote(num_cpus=0, resources={"joins": 0.001})
        class Actor:
            def answer(self) -> float:
                return time.time()

        began = time.time()
        plain = ray.get(Actor.remote().answer.remote()) - began  # type: ignore[attr-defined]
        node.terminate()
    reset_ray_address()  # else the next `ray.init` takes this cluster for the one at hand
    results = [json.loads(file.read_text().splitlines()[-1]) for file in said[0].glob("*/result.json")]
    return {"value": min(one["began"] for one in results) - alive, "plain_actor_s": plain}


@dataclass(frozen=True)
class Figure:
    """One row: what is measured, and what is to be reached (in the unit, or as a ratio)."""

    title: str
    unit: str
    at_least: str
    measure: Callable[[Side], Found]
    peer: Callable[[Side], Found] | None = None


FIGURES = {
    "isolated": Figure(
        "trials/s, a process each (warm server)", "/s", "10 x, aim 100 x",
        lambda side: trials(side, 400, False), lambda side: trials(side, 12, False),
    ),
    "uses_ray": Figure(
        "trials/s, an actor each (ray=True)", "/s", "-", lambda side: trials(side, 12, False, True)
    ),
    "reuse": Figure(
        "trials/s, processes reused", "/s", "10 x, aim 50 x",
        lambda side: trials(side, 4_000, True), lambda side: trials(side, 120, True),
    ),
    "results": Figure(
        "results/s, nothing lost", "/s", "5 x, aim 20 x",
        lambda side: results(side, 25_000), lambda side: results(side, 1_500),
    ),
    "overhead": Figure(
        "200 trials of 1 s on 16 CPUs, over the ideal", "%", "15 %, aim 5 %",
        lambda side: overhead(side, 200, 16),
    ),
    "alive": Figure(
        "trials alive at once, each reporting once a second", "", "200, aim 1,000",
        lambda side: alive(side, 200, 20),
    ),
    "joined": Figure("from a node's joining to a trial on it", "s", "5 s at most", joined),
    "alive_1000": Figure("the same, of 1,000", "", "-", lambda side: alive(side, 1_000, 60)),
}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description="The Ray engine's figures, and Ray Tune's beside them.")
    options.add_argument("figures", nargs="*", help=f"which ones; all if none is named: {', '.join(FIGURES)}")
    options.add_argument("--no-peer", action="store_true", help="measure Overtone alone")
    options.add_argument("--json", help="write everything to this file")
    given = options.parse_args()
    unknown = set(given.figures) - FIGURES.keys()
    if unknown:
        options.error(f"no figure {', '.join(sorted(unknown))}: choose among {', '.join(FIGURES)}")

    import ray

    ray.init(
        address="local", num_cpus=16, include_dashboard=False, logging_level=logging.ERROR,
        object_store_memory=80_000_000, log_to_driver=False,
    )  # fmt: skip
    ours, rays = Side("overtone"), Side("ray")
    print(f"{len(os.sched_getaffinity(0))} cores, Ray {ray.__version__}, Python {sys.version.split()[0]}")
    print(f"{'':<54} {'Overtone':>10}    {'Ray Tune':>10} {'ratio':>8}  to reach")
    trials(ours, 4, True)  # the node's agent is up, as it is in the second search of a driver
    table: dict[str, Any] = {}
    for name in given.figures or FIGURES:
        figure = FIGURES[name]
        mine = figure.measure(ours)
        peer = figure.peer(rays) if figure.peer is not None and not given.no_peer else None
        table[name] = {"overtone": mine, "peer": peer, "to_reach": figure.at_least}
        text = f"{figure.title:<54} {mine['value']:>10.4g} {figure.unit:<2} "
        text += (
            f"{peer['value']:>10.4g} {mine['value'] / peer['value']:>7.1f}x"
            if peer
            else f"{'-':>10} {'-':>8}"
        )
        lost = mine.get("lost", 0)
        print(f"{text}  {figure.at_least}{f'  LOST {lost:g}' if lost else ''}", flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(table, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
