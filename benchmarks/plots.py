"""What plots and the report of many trials cost.

    python benchmarks/plots.py                       100,000 trials
    python benchmarks/plots.py --trials 3000 --plots slice contour
    python benchmarks/plots.py --report              `overtone report` of a simulated experiment instead

The trials are synthetic columns: 12 hyperparameters of all kinds, two objectives, rungs, three failures in
a hundred. Each plot is made from the columns by plotly and as SVG; its time is that of the numbers, the
scene and the figure together, the best of three.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from overtone.analysis.drawing.scene import Floats
from overtone.analysis.drawing.svg import svg
from overtone.analysis.scenes.catalogue import ONE, SEVERAL, scene_of
from overtone.reading.columns.trial_columns import Column, Curve, MetricColumns, TrialColumns

STATUSES = ("PENDING", "RUNNING", "PAUSED", "TERMINATED", "ERROR")


def synthetic(n: int, seed: int = 0) -> TrialColumns:
    """Columns of `n` trials of a search that finds better values as it goes on."""
    rng = np.random.default_rng(seed)
    known = np.zeros(n, bool)
    params = {f"x{i}": Column(rng.random(n), known) for i in range(5)}
    params |= {f"optimizer/rate{i}": Column(10 ** rng.uniform(-5, -1, n), known) for i in range(3)}
    params |= {f"size{i}": Column(rng.integers(1, 9, n).astype(float), known) for i in range(2)}
    params["kind"] = Column(rng.integers(0, 4, n).astype(np.int32), known, ("a", "b", "c", "d"))
    params["name"] = Column(
        rng.integers(0, 10_000, n).astype(np.int32),
        rng.random(n) < 0.3,
        tuple(f"level {i}" for i in range(10_000)),
    )
    rung: Floats = np.power(3.0, rng.integers(0, 5, n)).astype(np.float64)
    loss = (params["x0"].values - 0.3) ** 2 + 0.2 * np.abs(np.log10(params["optimizer/rate0"].values) + 3)
    loss += rng.exponential(1.0, n) / rung
    cost = params["size0"].values * rung + rng.random(n)
    status = np.where(rng.random(n) < 0.03, 4, 3).astype(np.int32)
    t = rung.astype(np.int64)
    metrics = {
        "loss": MetricColumns(loss, loss, loss + 1, t, t, np.ones(n, np.int64)),
        "cost": MetricColumns(cost, cost, cost, t, t, t),
    }
    started: Floats = np.sort(rng.random(n) * 36_000)
    ended: Floats = np.add(started, rng.exponential(60, n))
    source = np.where(rng.random(n) < 0.2, rng.integers(0, np.maximum(np.arange(n), 1)), -1).astype(np.int32)

    def curve(row: int, metric: str) -> Curve:
        steps = np.arange(1, int(t[row]) + 1)
        return steps, metrics[metric].last[row] + 1.0 / steps

    return TrialColumns(
        [f"{i:08x}" for i in range(n)], params, metrics, Column(status, known, STATUSES),
        Column(rng.integers(0, 2, n), known, ("finished", "asha")), started, ended,
        Column(np.zeros(n, np.int32), known, ("node",)), rung, np.zeros(n, np.int32), source,
        t.astype(np.int32), rng.random(n) > 0.02, (("loss", "min"), ("cost", "min")),
        frozenset(name for name in params if "rate" in name), "synthetic", n, curve,
    )  # fmt: skip


def plots(n: int, names: list[str]) -> None:
    """Print the time and the size of each plot."""
    from overtone.analysis.drawing.plotly_figure import plotly_figure

    columns = synthetic(n)
    print(f"{n:,} trials{'':17} plotly                SVG")
    for name in names:
        times: dict[str, float] = {}
        sizes: dict[str, int] = {}
        for _ in range(3):
            for kind in ("plotly", "svg"):
                begun = time.process_time()
                scene = scene_of(name, [columns])
                text = plotly_figure(scene).to_json() if kind == "plotly" else svg(scene)
                spent = time.process_time() - begun
                times[kind], sizes[kind] = min(times.get(kind, spent), spent), len(text)
        cells = [f"{times[kind]:6.2f} s {sizes[kind] / 1e6:6.2f} MB" for kind in ("plotly", "svg")]
        print(f"{name:26} {'   '.join(cells)}   {scene.title}")


def report(n: int) -> None:
    """Print the time and the size of the report of a simulated experiment."""
    from overtone import tune

    def train(config):  # type: ignore[no-untyped-def]
        for t in range(1, 4):
            tune.report({"loss": (config["x"] - 0.3) ** 2 + config["rate"] + 1 / t})

    space = {
        "x": tune.uniform(0, 1),
        "rate": tune.loguniform(1e-5, 1e-1),
        "kind": tune.choice(["a", "b", "c"]),
    }
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"  # the same seed writes the same journal
        tune.run(
            train, config=space, num_samples=n, metric="loss", mode="min", name="simulated",
            storage_path=folder, engine=tune.Simulated(), verbose=0,
            scheduler=tune.create_scheduler("asha", max_t=3),
        )  # fmt: skip
        output = Path(folder) / "report.html"
        command = [sys.executable, "-m", "overtone", "report", f"{folder}/simulated", "-o", str(output)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{n:,} trials: {spent:.1f} s of CPU, {output.stat().st_size / 1e6:.2f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--plots", nargs="+", default=[*SEVERAL, *ONE])
    parser.add_argument("--report", action="store_true", help="measure `overtone report`")
    args = parser.parse_args()
    if args.report:
        report(args.trials)
    else:
        plots(args.trials, args.plots)


if __name__ == "__main__":
    main()
