"""The choice after a race over folds, by how soon the best candidate sees further folds; simulated.

    python benchmarks/fold_racing.py [--races 200] [--per-fold 1 2 4 8]

`overtone.sklearn.racing.FoldRacing` rules on simulated candidates, one at a time. The score on a fold is the
candidate's quality, plus a deviation of the fold (standard deviation 1 point), plus noise. Qualities and
noise are similar to those on digits: a best value less an exponential variable with the mean `spread`.

Printed is the quality of the chosen candidate, in points below the best of as many candidates as there were
fits: after 12 and 40 fits. Then in points below the best candidate, at the end of a search of 10, 20 and 60
candidates, with the number of fits.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Sequence

from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.randomness import Random
from overtone.sklearn.racing import FoldRacing
from overtone.testing.world import World

FOLDS = 5

KINDS = {"gradient boosting": (4.5, 0.8), "random forest": (1.8, 0.6), "k-neighbours": (0.6, 0.4)}
"""Spread of the candidates and standard deviation of the noise, in points."""

BUDGETS, SEARCHES = (12, 40), (10, 20, 60)


def race(scores: Sequence[Sequence[float]], per_fold: int) -> list[tuple[int, int]]:
    """Return (candidate, number of folds) of each fit, in the order of the fits."""
    fits: list[tuple[int, int]] = []

    def report(config: dict[str, int], t: int) -> dict[str, float]:
        fits.append((config["x"], t))
        return {"mean": statistics.fmean(scores[config["x"]][:t])}

    controller = Controller(
        FoldRacing(FOLDS, per_fold=per_fold),
        Goal("mean", "max", is_needed=True),
        limits=Limits(total=len(scores)),
    )
    World(
        controller, Random(0), lambda i: {"length": FOLDS, "x": i} if i < len(scores) else None,
        {"node": {"cpu": 1}}, metrics=report,
    ).run()  # fmt: skip
    return fits


def choice(fits: Sequence[tuple[int, int]], scores: Sequence[Sequence[float]]) -> int:
    """Return the candidate that `cv_results_` ranks first: the most folds, then the best mean."""
    n_folds = dict(fits)  # The last entry of a candidate counts.
    return max(n_folds, key=lambda i: (n_folds[i], statistics.fmean(scores[i][: n_folds[i]])))


def main() -> None:
    """Print a table in Markdown for each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--per-fold", type=int, nargs="+", default=[1, 2, 4, 8])
    args = parser.parse_args()
    columns = [f"{n} fits" for n in BUDGETS] + [f"{n} candidates" for n in SEARCHES]
    print("| kind | candidates for each fold | " + " | ".join(columns) + " |")
    print("|---|--:|" + "--:|" * len(columns))
    for kind, (spread, noise) in KINDS.items():
        for per_fold in args.per_fold:
            losses: dict[str, list[float]] = {column: [] for column in columns}
            n_fits: dict[str, list[int]] = {column: [] for column in columns}
            for seed in range(args.races):
                draw = random.Random(seed)
                qualities = [-draw.expovariate(1 / spread) for _ in range(max(SEARCHES))]
                folds = [draw.gauss(0, 1) for _ in range(FOLDS)]
                scores = [[quality + fold + draw.gauss(0, noise) for fold in folds] for quality in qualities]
                for n in SEARCHES:
                    fits = race(scores[:n], per_fold)
                    column = f"{n} candidates"
                    losses[column].append(max(qualities[:n]) - qualities[choice(fits, scores)])
                    n_fits[column].append(len(fits))
                for n in BUDGETS:  # of the longest search
                    losses[f"{n} fits"].append(max(qualities[:n]) - qualities[choice(fits[:n], scores)])
            cells = [
                f"{statistics.fmean(losses[column]):.2f}"
                + (f" ({statistics.fmean(n_fits[column]):.0f} fits)" if n_fits[column] else "")
                for column in columns
            ]
            print(f"| {kind} | {per_fold} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
