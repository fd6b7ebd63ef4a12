"""Whether a good prior helps PriorBand, and whether it recovers from a bad one: the claim of its paper.

    python benchmarks/priorband.py DATA [--seeds 5] [--docs docs]

`DATA` is the folder with `curves/`. On each LCBench task a search may train for as many epochs as 20
trainings have, one trial at a time; a configuration has the curve of the nearest row. A good prior is around
the best of 25 rows, drawn at random anew for each seed; a bad one is around the worst of all rows. Each has
the width that `tune.normal_prior` has by default. No constant was chosen on these tasks. Regret is the
distance of the best value seen so far from the best of the table, over that of the median row's last value,
and at most 1. `--docs` writes the table of searching.md and its figure.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from curves import lcbench

from overtone import tune
from overtone.curves import CurveTable
from overtone.curves.domains import inferred
from overtone.tune.schedulers import HyperBandScheduler, PriorBand

TRAININGS = 20
SHOWN = (1, 2, 5, 10, 20)
N_EXPERIENCED = 25
METHODS = {
    "HyperBand, random": (HyperBandScheduler, None),
    "HyperBand, draws of a good prior": (HyperBandScheduler, "good"),
    "HyperBand, draws of a bad prior": (HyperBandScheduler, "bad"),
    "PriorBand, good prior": (PriorBand, "good"),
    "PriorBand, bad prior": (PriorBand, "bad"),
}


def with_prior(space: dict[str, Any], centre: dict[str, Any]) -> dict[str, Any]:
    """The space, in which values around those of `centre` are expected to be good."""
    return {
        name: tune.normal_prior(domain, centre[name]) if hasattr(domain, "lower") else domain
        for name, domain in space.items()
    }


def searched(
    table: CurveTable, space: dict[str, Any], kind: type, max_t: int, metric: str, seed: int
) -> np.ndarray:
    """The best value that was seen after each epoch of the search."""
    with tempfile.TemporaryDirectory() as folder:
        found = tune.run(
            table, config=space, scheduler=kind(max_t=max_t), metric=metric, mode="max", seed=seed, verbose=0,
            num_samples=10 * TRAININGS, engine=tune.Simulated(1), time_budget_s=TRAININGS * max_t,
            storage_path=folder,
        )  # fmt: skip
        best = np.full(TRAININGS * max_t, -np.inf)
        for trial in found.trials:
            for result in trial.results():
                epoch = int(result["timestamp"]) - 1
                if epoch < len(best):
                    best[epoch] = max(best[epoch], result[metric])
    return np.maximum.accumulate(best)


def measured(data: Path, n_seeds: int) -> dict[str, np.ndarray]:
    """By method, the regret [task, seed, epoch]."""
    found: dict[str, list[list[np.ndarray]]] = {name: [] for name in METHODS}
    file = np.load(data / "curves" / "lcbench.npz")
    for k, task in enumerate(lcbench(data / "curves")):
        values = file["val_acc_x100"][k] / 100
        table = CurveTable(task.table.configs, {task.metric: values}, surrogate="nearest", name=task.name)
        last, best = values[:, -1], values.max()
        space = inferred(task.table.configs)
        for rows in found.values():
            rows.append([])
        for seed in range(n_seeds):
            known = np.random.default_rng(seed).choice(len(last), N_EXPERIENCED, replace=False)
            centres = {"good": known[last[known].argmax()], "bad": last.argmin()}
            for name, (kind, prior) in METHODS.items():
                mine = with_prior(space, task.table.configs[centres[prior]]) if prior else space
                seen = searched(table, mine, kind, task.max_t, task.metric, seed)
                found[name][-1].append((best - seen) / (best - np.median(last)))
        print(
            task.name, {name: round(float(np.mean(rows[-1], axis=0)[-1]), 4) for name, rows in found.items()}
        )
    return {name: np.array(rows) for name, rows in found.items()}


def table_of(found: dict[str, np.ndarray]) -> str:
    """Mean regret after so many trainings, over tasks and seeds, in Markdown."""
    n = next(iter(found.values())).shape[2] // TRAININGS
    head = "| regret after so many trainings | " + " | ".join(map(str, SHOWN)) + " |"
    lines = [head, "|---|" + "---:|" * len(SHOWN)]
    for name, regret in found.items():
        means = [np.minimum(regret[:, :, t * n - 1], 1.0).mean() for t in SHOWN]
        lines.append(f"| {name} | " + " | ".join(f"{one:.3f}" for one in means) + " |")
    return "\n".join(lines)


def plot(found: dict[str, np.ndarray], path: Path) -> None:
    """Mean regret over trainings, with the standard error over seeds."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for name, regret in found.items():
        means = np.minimum(regret, 1.0).mean(axis=0)
        x = np.arange(1, means.shape[1] + 1) * TRAININGS / means.shape[1]
        mean, error = means.mean(axis=0), means.std(axis=0, ddof=1) / len(means) ** 0.5
        style = "-" if name.startswith("PriorBand") else "--"
        (line,) = axes.plot(x, mean, style, label=name)
        axes.fill_between(x, mean - error, mean + error, color=line.get_color(), alpha=0.15, linewidth=0)
    axes.set(xlabel="trainings", ylabel="mean regret", yscale="log", xlim=(0, TRAININGS))
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure, print and write."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--docs", type=Path)
    given = options.parse_args()
    found = measured(given.data, given.seeds)
    text = table_of(found)
    print(text)
    if given.docs:
        plot(found, given.docs / "images" / "priorband.png")
        page = given.docs / "searching.md"
        mark = "<!-- table: benchmarks/priorband.py -->\n\n"
        before, after = page.read_text("utf-8").split(mark)
        rest = re.sub(r"\A(\|.*\n)*", "", after)
        page.write_text(before + mark + text + "\n" + rest, "utf-8")


if __name__ == "__main__":
    main()
