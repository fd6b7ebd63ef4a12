"""How fast a search is simulated, and how well it predicts a real one.

    python benchmarks/simulated.py                    the figures
    python benchmarks/simulated.py rate growth        some of them
    python benchmarks/simulated.py --profile          where the time of `rate` goes
    python benchmarks/simulated.py --json FILE
    python benchmarks/simulated.py rate --peer PYTHON   beside Syne Tune's simulator, in turn; PYTHON has it

Each figure is measured in a process of its own. `rate` is over the whole of `tune.run`: from the call
to its return, with the journal written and with all that the controller, ASHA and the engine do. A search
of one trial comes before it, since the first search of a process loads modules. A trial
costs as much as several results, so that it depends on how many a trial has: 20 with the grace period of
`rate`, 4 with that of `short`, which is the hardest.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from overtone import tune
from overtone.tune.schedulers import ASHAScheduler

LONGEST = 50
"""Iterations of a curve, as in LCBench."""

LATE, EARLY = 10, 1
"""Iterations before ASHA may stop a trial: it has 20 of 50 in the mean, or 4."""

TARGETS = {
    "rate": ("simulated reports/s, ASHA, 500 workers", 20_000, 60_000, True),
    "short": ("the same where trials have 4 reports in the mean", 20_000, 60_000, True),
    "growth": ("reports/s with 10,000 workers over that with 10", 0.5, 0.9, True),
    "memory": ("memory of 100,000 trials with ASHA, read back, MB", 300, 250, False),
    "prediction": ("predicted over real wall time, local engine, off by", 0.10, 0.05, False),
}


def curve(config: dict[str, Any], t: int) -> Any:
    """A loss that falls to `config["x"]`; each config takes its own time for an iteration."""
    if t > LONGEST:
        return None
    x = config["x"]
    return {"loss": x + 1.0 / t}, 1.0 + 9.0 * (x * 7919.0 % 1.0)


def run(workers: int, trials: int, grace: int, folder: str) -> tune.ExperimentAnalysis:
    """Simulate a search with ASHA."""
    return tune.run(
        curve, config={"x": tune.uniform(0, 1)}, num_samples=trials, metric="loss", mode="min", seed=1,
        scheduler=ASHAScheduler(max_t=LONGEST, grace_period=grace, reduction_factor=3),
        engine=tune.Simulated(workers), storage_path=folder, verbose=0,
    )  # fmt: skip


def search(workers: int, trials: int, grace: int = EARLY) -> tuple[int, float, float]:
    """How many results a search has, and what its `tune.run` takes: seconds, and seconds of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        began, cpu_began = time.perf_counter(), time.process_time()
        analysis = run(workers, trials, grace, folder)
        took, cpu = time.perf_counter() - began, time.process_time() - cpu_began
        return int(analysis.stats()["num_results"]), took, cpu


def rate() -> dict[str, float]:
    """Reports a second with 500 workers."""
    return _rate(500, 5_000, LATE)


def short() -> dict[str, float]:
    """Reports a second with 500 workers where two trials of three are stopped at their first."""
    return _rate(500, 20_000, EARLY)


def _rate(workers: int, trials: int, grace: int) -> dict[str, float]:
    search(1, 1)
    results, took, cpu = search(workers, trials, grace)
    return {"value": results / took, "per_cpu_s": results / cpu, "results": results, "trials": trials}


def growth() -> dict[str, float]:
    """The rate with many workers over that with few, a second of CPU; in turn, the median of three."""
    rates = [
        [found[0] / found[2] for found in (search(10_000, 30_000), search(10, 30_000))] for _ in range(3)
    ]
    return {"value": statistics.median(many / few for many, few in rates)}


def memory() -> dict[str, float]:
    """The largest resident memory of a process that simulates 100,000 trials and reads their journal, MB."""
    import resource

    search(500, 100_000)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"value": peak / (1e6 if sys.platform == "darwin" else 1e3)}


def prediction() -> dict[str, float]:
    """How far the predicted length of a search is from that of the real one: the worse of two predictions.

    A search is really run under FIFO and under ASHA. The second one's length is predicted from its own curves
    and paces (`again`), and from what was recorded under FIFO (`from_fifo`, as `overtone whatif` does); both
    are predicted over real. It takes a minute and a half, nearly all of it asleep, and wants an idle machine:
    `load` is what others ran meanwhile, `late` the time of an iteration over what it slept, and `lead_s` what
    passed before the first trial ran, once a search, where a loaded machine differs most from itself.
    """
    import os

    from overtone.research import whatif
    from overtone.research.recording import Recording

    def length(x: float) -> float:
        return 0.03 + 0.15 * x

    def train(config: dict[str, float]) -> None:
        for t in range(1, 28):
            time.sleep(length(config["x"]))
            tune.report(loss=config["x"] + 1 / t)

    asha = ASHAScheduler(max_t=27, grace_period=1, reduction_factor=3)
    with tempfile.TemporaryDirectory() as folder:
        whole, real = (
            tune.run(
                train, config={"x": tune.uniform(0, 1)}, num_samples=30, metric="loss", mode="min", seed=1,
                scheduler=scheduler, storage_path=folder, verbose=0, max_concurrent_trials=2,
                resources_per_trial={"cpu": 0.5},
            )
            for scheduler in (None, asha)
        )  # fmt: skip
        real_s = real.stats()["total_time"]
        ratio = whatif(whole.experiment_path, asha).time_s[0] / real_s
        again = whatif(real.experiment_path, asha).time_s[0] / real_s
        records = [Recording.of(one.experiment_path) for one in (whole, real)]
        spent = sum(seconds for one in records for curve in one.curves for _, seconds in curve.points)
        slept = sum(length(curve.config["x"]) * len(curve.points) for one in records for curve in one.curves)
        return {
            "value": max(abs(math.log(again)), abs(math.log(ratio))), "again": again, "from_fifo": ratio,
            "real_s": real_s, "load": os.getloadavg()[0], "late": spent / slept,
            "lead_s": records[1].lead_s, "fifo_lead_s": records[0].lead_s,
        }  # fmt: skip


def beside(python: str) -> None:
    """Results a second of CPU, and those of Syne Tune's simulator; in turn, three times."""
    theirs = [python, str(Path(__file__).with_name("peer_simulated.py"))]
    mine = [sys.executable, __file__, "--search"]
    print(f"{'results a second of CPU':40} {'Overtone':>10} {'Syne Tune':>10} {'ratio':>8}")
    for grace in (LATE, EARLY):
        for workers in (500, 4):
            pairs = []
            for _ in range(3):
                ours = _last_line([*mine, str(workers), "6000", str(grace)])["per_cpu_s"]
                pairs.append((ours, _last_line([*theirs, str(workers), "1500", str(grace)])["value"]))
            medians = [statistics.median(pair[i] for pair in pairs) for i in range(2)]
            ratio = statistics.median(one / other for one, other in pairs)
            title = f"{workers} workers, grace period {grace}"
            print(f"{title:40} {medians[0]:10,.0f} {medians[1]:10,.0f} {ratio:8,.1f}", flush=True)


def _last_line(command: list[str]) -> dict[str, float]:
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


FIGURES = {"rate": rate, "short": short, "growth": growth, "memory": memory, "prediction": prediction}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="FIGURE", help=f"of {', '.join(FIGURES)}")
    parser.add_argument("--json", metavar="FILE", help="write them there, too")
    parser.add_argument("--profile", action="store_true", help="show where the time of `rate` goes")
    parser.add_argument("--peer", metavar="PYTHON", help="one that has syne-tune, to compare with")
    parser.add_argument("--alone", choices=FIGURES, help=argparse.SUPPRESS)
    parser.add_argument("--search", nargs=3, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.search:
        print(json.dumps(_rate(*args.search)))
        return
    if args.alone:
        print(json.dumps(FIGURES[args.alone]()))
        return
    if args.profile:
        import cProfile
        import pstats

        profile = cProfile.Profile()
        profile.runcall(search, 500, 3_000, LATE)
        pstats.Stats(profile).sort_stats("tottime").print_stats(45)
        return
    found = {}
    for name in args.names or FIGURES:
        found[name] = _last_line([sys.executable, __file__, "--alone", name])
        title, least, aim, more = TARGETS[name]
        bound = f"   ({'at least' if more else 'at most'} {least:,}, aim for {aim:,})" if aim else ""
        print(f"{title:55} {found[name]['value']:12,.3f}{bound}", flush=True)
    if args.peer:
        beside(args.peer)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
