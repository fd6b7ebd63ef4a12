"""The figures of the README, measured: Overtone, and with `--peer ray` Ray Tune in the same run.

    python benchmarks/throughput.py                              all figures
    python benchmarks/throughput.py trials_fresh import_time     these alone
    python benchmarks/throughput.py --peer ray --peer-python /path/to/venv/bin/python

Each figure is the median of `--repeat` runs, each in a process of its own; two slots.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PATIENCE_S = 600
Found = dict[str, float]


@dataclass(frozen=True)
class Side:
    """Who is measured: `overtone` or `ray`, and the Python that has it."""

    name: str
    python: str

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a script of this folder (or `-c` and code) to its end."""
        found = subprocess.run(
            [self.python, *command],
            cwd=HERE,
            env=self.env(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        if found.returncode:
            said = f"{found.stdout[-2000:]}\n{found.stderr[-4000:]}"
            sys.exit(f"{' '.join(command)} failed on {self.name}:\n{said}")
        return found

    def env(self) -> dict[str, str]:
        """This process's environment, and whose `tune` is meant."""
        return {**os.environ, "BENCH_ON": self.name, "OMP_NUM_THREADS": "1"}

    def workload(self, name: str, ours: Found, rays: Found) -> Found:
        """What a function of workloads.py finds, with the arguments of this side."""
        script, arguments = ("workloads.py", ours) if self.name == "overtone" else ("peer_ray.py", rays)
        found = self.run(script, name, json.dumps(arguments))
        return dict(json.loads(found.stdout.splitlines()[-1]))


@dataclass(frozen=True)
class Figure:
    """One row of the table.

    Attributes:
        title: What is measured.
        unit: Of the value.
        at_least, aim: What is to be reached, in that unit.
        more: Whether more is better.
        measure: One run.
        scale: The unit, in the units of what `measure` finds.
        with_peer: Whether the other side has such a figure.
    """

    title: str
    unit: str
    at_least: float
    aim: float
    more: bool
    measure: Callable[[Side], Found]
    scale: float = 1.0
    with_peer: bool = True


def import_time(side: Side) -> Found:
    """`from ... import tune` in a fresh interpreter, less a bare one."""
    return {"value": _median_s(side, f"from {side.name} import tune") - _median_s(side, "pass")}


def _median_s(side: Side, code: str) -> float:
    took = []
    for _ in range(7):
        began = time.perf_counter()
        side.run("-c", code)
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def first_result(side: Side) -> Found:
    """From the start of Python to the first result in the journal (for Ray: in result.json)."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        command = [side.python, "first_result.py", folder]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=HERE, env=side.env(), stdout=quiet, stderr=quiet) as process:
            while not _has_result(Path(folder)):
                if process.poll() is not None and not _has_result(Path(folder)):
                    sys.exit(f"first_result.py ended without a result on {side.name}")
                time.sleep(0.002)
            return {"value": time.perf_counter() - began}


def _has_result(folder: Path) -> bool:
    journal = folder / "first" / "journal.jsonl"
    if journal.exists():
        return b'"e":"reported"' in journal.read_bytes()
    return any(file.stat().st_size for file in folder.glob("first/*/result.json"))


def driver_memory(side: Side) -> Found:
    """The driver's largest memory after four trials, less that of the user's imports alone."""
    return {"value": _memory(side, 4) - side.workload("imports", {}, {})["value"]}


def trial_memory(side: Side) -> Found:
    """What a finished trial adds to the driver's memory."""
    few, many = (1_000, 6_000) if side.name == "overtone" else (10, 60)
    return {"value": (_memory(side, many) - _memory(side, few)) / (many - few)}


def _memory(side: Side, trials: int) -> float:
    return side.workload("memory", {"size": trials}, {"size": trials})["value"]


def controller_growth(side: Side) -> Found:
    """The controller's cost per result at 100,000 trials over that at 1,000."""
    sys.path.insert(0, str(HERE))
    from controller_cost import seconds_per_result

    few = statistics.median(seconds_per_result(1_000) for _ in range(9))
    many = seconds_per_result(100_000)
    return {"value": many / few, "few_us": few * 1e6, "many_us": many * 1e6}


def demo_cpu(side: Side) -> Found:
    """The CPU time of the demo's trials over (its wall time x cores), from start to exit."""
    began = time.perf_counter()
    found = json.loads(side.run("demo_cpu.py").stdout.splitlines()[-1])
    wall_s, cores = time.perf_counter() - began, len(os.sched_getaffinity(0))
    search = found["cpu_s"] / (found["search_s"] * cores)
    return {"value": found["cpu_s"] / (wall_s * cores), "search_alone": search, "wall_s": wall_s}


def _trials(reuse: bool, ours: int, rays: int) -> Callable[[Side], Found]:
    flag = {"reuse": reuse}
    return lambda side: side.workload("trials", {"size": ours, **flag}, {"size": rays, **flag})


def _results(tensorboard: bool, ours: int, rays: int) -> Callable[[Side], Found]:
    flag = {"tensorboard": tensorboard}
    return lambda side: side.workload("results", {"size": ours, **flag}, {"size": rays, **flag})


def _report(waits: bool, key: str) -> Callable[[Side], Found]:
    def measure(side: Side) -> Found:
        found = side.workload("report_cost", {"size": 4000, "waits": waits}, {"size": 400, "waits": waits})
        return {**found, "value": found[key if key != "median" else "value"]}

    return measure


FIGURES = {
    "trials_fresh": Figure("trials/s, a fresh process each", "/s", 100, 300, True, _trials(False, 600, 12)),
    "trials_reuse": Figure("trials/s, processes reused", "/s", 1500, 4000, True, _trials(True, 6000, 120)),
    "results": Figure("results/s, nothing lost", "/s", 10_000, 20_000, True, _results(False, 25_000, 1_500)),
    "results_tensorboard": Figure(
        "results/s, with TensorBoard", "/s", 3_000, 10_000, True, _results(True, 12_500, 750)
    ),
    "report_median": Figure(
        "report() to its caller, median", "ms", 0.3, 0.1, False, _report(False, "median"), 1e-3
    ),
    "report_p99": Figure("report() to its caller, p99", "ms", 5, 1, False, _report(False, "p99"), 1e-3),
    "report_ruled": Figure(
        "report() that waits for a ruling, median", "ms", 5, 1, False, _report(True, "median"), 1e-3
    ),
    "import_time": Figure("from ... import tune", "s", 0.15, 0.08, False, import_time),
    "first_result": Figure("start of Python to the first result", "s", 0.6, 0.35, False, first_result),
    "driver_memory": Figure("driver's memory", "MB", 80, 50, False, driver_memory, 1e6),
    "trial_memory": Figure("driver's memory, a finished trial", "kB", 2, 1, False, trial_memory, 1e3),
    "controller_growth": Figure(
        "controller, 100,000 trials over 1,000", "x", 1.5, 1.1, False, controller_growth, 1, False
    ),
    "demo_cpu": Figure("CPU of trials / (wall x cores), demo", "", 0.85, 0.95, True, demo_cpu, 1, False),
}


def measured(figure: Figure, side: Side, repeat: int) -> dict[str, Any]:
    """The median run, by its value, and all values."""
    runs = sorted((figure.measure(side) for _ in range(repeat)), key=lambda found: found["value"])
    values = [run["value"] / figure.scale for run in runs]
    worst = max(run.get("lost", 0) for run in runs)
    middle = {**runs[(len(runs) - 1) // 2], "value": statistics.median(values)}
    return {**middle, "unit": figure.unit, "lost": worst, "all": values}


def row(figure: Figure, ours: dict[str, Any], peers: dict[str, Any] | None) -> str:
    """One line: what, how much, what is to be reached, and the peer's."""
    met = ours["value"] >= figure.at_least if figure.more else ours["value"] <= figure.at_least
    text = f"{figure.title:<42} {ours['value']:>11.4g} {figure.unit:<3}"
    text += f" {figure.at_least:>8g} {figure.aim:>8g}"
    text += "  yes" if met else "   NO"
    if peers:
        ratio = ours["value"] / peers["value"] if figure.more else peers["value"] / max(ours["value"], 1e-12)
        text += f" {peers['value']:>11.4g} {ratio:>9.1f}x"
    for who, found in (("Overtone", ours), ("the peer", peers)):
        if found and found["lost"]:
            text += f"  {who} LOST {found['lost']:g}"
    return text


def main() -> None:
    options = argparse.ArgumentParser(description="Overtone's figures, and a peer's beside them.")
    options.add_argument("figures", nargs="*", help=f"which ones; all if none is named: {', '.join(FIGURES)}")
    options.add_argument("--peer", choices=["ray"], help="measure this one too")
    options.add_argument("--peer-python", default=sys.executable, help="the Python that has the peer")
    options.add_argument("--repeat", type=int, default=3, help="runs a figure (%(default)s)")
    options.add_argument("--json", help="write everything to this file")
    given = options.parse_args()
    unknown = set(given.figures) - FIGURES.keys()
    if unknown:
        options.error(f"no figure {', '.join(sorted(unknown))}: choose among {', '.join(FIGURES)}")

    here = Side("overtone", sys.executable)
    peer = Side("ray", given.peer_python) if given.peer else None
    print(f"{platform.platform()}, Python {platform.python_version()}, {len(os.sched_getaffinity(0))} cores")
    heading = f"{'':<42} {'Overtone':>11}     {'at least':>8} {'aim':>8}  met"
    print(heading + f" {'Ray Tune':>11} {'ratio':>10}" * bool(peer))
    table: dict[str, Any] = {}
    for name in given.figures or FIGURES:
        figure = FIGURES[name]
        ours = measured(figure, here, given.repeat)
        peers = measured(figure, peer, given.repeat) if peer and figure.with_peer else None
        table[name] = {"overtone": ours, "at_least": figure.at_least, "aim": figure.aim, "peer": peers}
        print(row(figure, ours, peers), flush=True)
    if given.json:
        Path(given.json).write_text(json.dumps(table, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
