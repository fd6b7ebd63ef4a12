"""What the numbers of plots cost, without drawing: CPU seconds and numbers of each plot.

    python benchmarks/plot_numbers.py                   100,000 trials
    python benchmarks/plot_numbers.py --trials 1000000

The trials are synthetic: ten hyperparameters (one logarithmic, one in a branch, one with 10,000 categories),
three objectives, rungs and clones. The time is the least of three.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from overtone.reading.columns.trial_columns import Column, Curve, TrialColumns
from overtone.testing.trial_tables import table

PLOTS = (
    "optimization_history intermediate_values slices contour parallel_coordinate importances pareto_front edf"
    " rank timeline hypervolume_history terminator_improvement learning_curves rungs lineage cost compare"
)


def synthetic(n: int) -> TrialColumns:
    rng = np.random.default_rng(0)
    known = np.zeros(n, bool)
    params = {f"x{i}": Column(rng.random(n), known) for i in range(7)}
    params["rate"] = Column(10 ** rng.uniform(-5, -1, n), known)
    params["momentum"] = Column(rng.random(n), rng.random(n) < 0.5)
    params["layer"] = Column(
        rng.integers(0, 10_000, n).astype(np.int32), known, tuple(map(str, range(10_000)))
    )
    loss = np.abs(np.log10(params["rate"].values) + 3) + params["x0"].values + rng.random(n) / 10
    started = np.sort(rng.random(n) * 36_000)

    def curve(row: int, metric: str) -> Curve:
        return np.arange(1_000), np.random.default_rng(row).random(1_000)

    return table(
        params,
        {"loss": loss, "accuracy": rng.random(n), "flops": rng.random(n)},
        [("loss", "min"), ("accuracy", "max"), ("flops", "min")],
        log_params=frozenset({"rate"}),
        started=started,
        ended=started + rng.exponential(60, n),
        rung=3.0 ** rng.integers(0, 5, n),
        source=np.where(rng.random(n) < 0.3, rng.integers(0, n, n), -1).astype(np.int32),
        curve=curve,
    )


def numbers_in(value: Any) -> Iterator[int]:
    """Yield the sizes of a plot's arrays."""
    if isinstance(value, np.ndarray):
        yield value.size
    elif is_dataclass(value):
        for one in fields(value):
            yield from numbers_in(getattr(value, one.name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from numbers_in(one)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100_000)
    args = parser.parse_args()
    columns = synthetic(args.trials)
    print(f"{args.trials:,} trials{'':12}   CPU s   numbers")
    for name in PLOTS.split():
        module = import_module(f"overtone.analysis.plots.{name}")
        function = getattr(module, "param_importances" if name == "importances" else name)
        times = []
        for _ in range(3):
            start = time.process_time()
            plot = function(columns)
            times.append(time.process_time() - start)
        print(f"{name:24} {min(times):8.2f} {sum(numbers_in(plot)):9,}")


if __name__ == "__main__":
    main()
