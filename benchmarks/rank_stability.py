"""How stable ranks are on recorded curves: from rung to rung, until the end, and where the best were.

    python benchmarks/rank_stability.py DATA [--families lcbench algoperf taskset]

Of each task, at t = 1, 2, 4, ...: how many rows came there, the rank correlations of best scores so far with
those at 2 t and with those at the end, and the quantiles, among all rows, of the rows that end among the best
(1 %; AlgoPerf: 5 %): the lowest, the median and the highest.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from curves import Task, tables
from scipy.stats import rankdata, spearmanr


def best_so_far(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Best scores until each iteration, with mode "max" and -inf for NaN, and the lengths of rows."""
    sign = 1.0 if task.mode == "max" else -1.0
    best = np.full((len(task.table), task.max_t), -np.inf)
    for k, length in enumerate(task.table.lengths):
        at = task.table.curve_of({"row": k})
        points = [at(t) for t in range(1, length + 1)]
        values = np.array([sign * float(point[0][task.metric]) for point in points if point is not None])
        best[k, :length] = np.where(np.isnan(values), -np.inf, values)
    return np.maximum.accumulate(best, axis=1), np.array(task.table.lengths)


def tell(task: Task) -> None:
    best, lengths = best_so_far(task)
    ends = best[:, -1]
    n_top = max(1, round((0.05 if task.family == "algoperf" else 0.01) * len(ends)))
    is_top = np.isin(np.arange(len(ends)), np.argsort(-ends)[:n_top])
    print(f"{task.family} {task.name}: {len(ends)} rows, median length {np.median(lengths):g}")
    for t in (2**k for k in range(task.max_t.bit_length())):
        here, there = lengths >= t, lengths >= min(2 * t, task.max_t)
        if there.sum() < 10:
            break
        now, later = best[:, t - 1], best[:, min(2 * t, task.max_t) - 1]
        quantiles = rankdata(now[here]) / here.sum()
        of_top = quantiles[is_top[here]]
        shown = "none" if not len(of_top) else " ".join(f"{q:.2f}" for q in np.quantile(of_top, [0, 0.5, 1]))
        step, end = (spearmanr(now[rows], then[rows])[0] for rows, then in ((there, later), (here, ends)))
        print(f"  t={t:<4} {here.sum():5} rows, to 2t {step:5.2f}, to the end {end:5.2f}, best at {shown}")


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("data", type=Path)
    parser.add_argument("--families", nargs="+", default=["lcbench", "algoperf", "taskset"])
    args = parser.parse_args()
    for task in tables(args.data, *args.families):
        tell(task)


if __name__ == "__main__":
    main()
