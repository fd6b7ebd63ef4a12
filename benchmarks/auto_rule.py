"""How `scheduler="auto"` was chosen and how much it can harm: variants judged by folds, misleading curves.

Parts of `schedulers.py`, which runs them and writes their figures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from overtone import tune
from overtone.research import Problem, outcomes
from overtone.schedulers.auto import AutoScheduler
from overtone.schedulers.whole_runs import Trust
from overtone.testing.curves import MISLEADING, misleading

LENGTH = 50
N_RESAMPLED = 1000
FOLDS = 3


class Careful(AutoScheduler):
    pausing = Trust(caution=0.35, first_whole=0.15, doubt=0.3)


class MostCareful(AutoScheduler):
    pausing = Trust(caution=0.5, first_whole=0.25, doubt=0.5)


VARIANTS = {"auto": AutoScheduler, "auto, careful": Careful, "auto, most careful": MostCareful}
"""What the folds choose from: a correlation is lowered by 0.25, 0.35 or 0.5 standard errors, the first share
of whole runs is 0.1, 0.15 or 0.25, and later at least 0.2, 0.3 or 0.5 over the estimated speed-up."""

STOPS = "auto, stops"
"""What `auto` does to trials that save nothing: it stops them instead of pausing them."""

OURS: dict[str, Callable[[], AutoScheduler]] = {**VARIANTS, STOPS: partial(AutoScheduler, pause=False)}


def misleading_problems(best: float, draws: int) -> dict[str, Problem]:
    """Curves whose early values mislead; each search draws its own configurations from a distribution."""
    space = {"final": tune.uniform(0, 1), "other": tune.uniform(0, 1)}
    drawn = np.random.default_rng(0).random((4000, 2))
    found = {}
    for kind in MISLEADING:
        curve = misleading(kind, LENGTH)
        bests = [
            max(curve({"final": a, "other": b}, t)["score"] for t in range(1, LENGTH + 1)) for a, b in drawn
        ]
        found[kind] = Problem(
            curve, "score", "max", name=kind, space=space, num_samples=draws, max_t=LENGTH,
            target=float(np.quantile(bests, 1 - best)), family="misleading", checkpoint_freq=1,
        )  # fmt: skip
    return found


def times(frame: pd.DataFrame) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Of each problem and method, by seed: times to the target (infinite if not reached) and to the end."""
    ends = outcomes(frame).sort_values("seed")
    return {
        key: (np.where(one["is_reached"], one["reached_s"], np.inf), one["time_s"].to_numpy())
        for key, one in ends.groupby(["problem", "method"], sort=False)
    }


def resampled(n: int) -> np.ndarray:
    """Seeds of bootstrap samples, of shape (N_RESAMPLED + 1, n); the first row is the sample itself."""
    rows = np.random.default_rng(1).integers(0, n, (N_RESAMPLED, n))
    return np.vstack([np.arange(n), rows])


def medians(reached: np.ndarray, ends: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The median time of each sample; that of the ends if half of the searches gave up."""
    with np.errstate(invalid="ignore"):
        found = np.median(reached[rows], axis=1)
    typical: np.ndarray = np.where(np.isfinite(found), found, np.median(ends[rows], axis=1))
    return typical


def ratios(frame: pd.DataFrame, baseline: str = "random") -> pd.DataFrame:
    """The median time of `baseline` over that of each method, as arrays of samples, by problem and method."""
    found = times(frame)
    table: dict[str, dict[str, np.ndarray]] = {}
    rows = resampled(frame["seed"].nunique())
    for (problem, method), (reached, ends) in found.items():
        base = medians(*found[problem, baseline], rows)
        table.setdefault(method, {})[problem] = base / medians(reached, ends, rows)
    return pd.DataFrame(table)


def geometric(samples: list[np.ndarray]) -> np.ndarray:
    means: np.ndarray = np.exp(np.mean(np.log(samples), axis=0))
    return means


def interval(sample: np.ndarray) -> str:
    low, high = np.quantile(sample[1:], [0.025, 0.975])
    return f"{sample[0]:.2f} ({low:.2f} to {high:.2f})"


def family_table(frame: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Geometric means over the tasks of each family, with intervals over seeds, and the worst task."""
    kinds = frame.drop_duplicates("problem").set_index("problem")["family"]
    found = ratios(frame)
    table: dict[str, dict[str, str]] = {}
    for family, tasks in kinds.groupby(kinds, sort=False):
        for method in methods:
            several = [found.loc[task, method] for task in tasks.index]
            worst = min(one[0] for one in several)
            table.setdefault(str(family), {})[method] = f"{interval(geometric(several))}, worst {worst:.2f}"
    return pd.DataFrame(table).T


def misled_table(frame: pd.DataFrame, methods: list[str]) -> tuple[pd.DataFrame, dict[str, float]]:
    """Ratios of mean times on misleading curves, with intervals over seeds."""
    found, rows = times(frame), resampled(frame["seed"].nunique())
    table: dict[str, dict[str, str]] = {}
    whole: dict[str, list[np.ndarray]] = {}
    for problem in frame["problem"].unique():
        base = found[problem, "random"][1][rows].mean(axis=1)
        for method in methods:
            sample = base / found[problem, method][1][rows].mean(axis=1)
            table.setdefault(problem, {})[method] = interval(sample)
            whole.setdefault(method, []).append(sample)
    table["geometric mean"] = {method: interval(geometric(samples)) for method, samples in whole.items()}
    return pd.DataFrame(table).T, {method: geometric(one)[0] for method, one in whole.items()}


def fold_table(frame: pd.DataFrame, rivals: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The variant that is chosen on two thirds of the tasks of all families, and its ratios on the others.

    The second frame has of each family the geometric mean of all held-out tasks, the worst of them, and the
    ratio to ASHA and to the best rival, which is chosen after the fact.
    """
    kinds = frame.drop_duplicates("problem").set_index("problem")["family"]
    places = kinds.groupby(kinds, sort=False).cumcount()
    found = ratios(frame)
    rows, judged = {}, {}
    for fold in range(min(FOLDS, kinds.value_counts().min())):
        chosen_on, held_out = kinds[places % FOLDS != fold], kinds[places % FOLDS == fold]
        choice = max(VARIANTS, key=lambda one: _merit(found, chosen_on, one))
        judged.update({task: found.loc[task, choice] for task in held_out.index})
        row = {"chosen": choice}
        for family in kinds.unique():
            for name, tasks in (("chosen", chosen_on), ("held out", held_out)):
                several = [found.loc[task, choice] for task in tasks.index[tasks == family]]
                row[f"{family}, {name}"] = interval(geometric(several))
        rows[str(fold + 1)] = row
    summary = {}
    for family, group in kinds.groupby(kinds, sort=False):
        tasks = [task for task in group.index if task in judged]
        ours = geometric([judged[task] for task in tasks])
        theirs = {one: geometric([found.loc[task, one] for task in tasks]) for one in rivals}
        best = max(theirs, key=lambda one: theirs[one][0])
        summary[str(family)] = {
            "against random": interval(ours),
            "worst task": interval(min((judged[task] for task in tasks), key=lambda one: one[0])),
            "against ASHA": interval(ours / theirs["asha"]),
            "best other": best,
            "against it": interval(ours / np.maximum(theirs[best], 1.0)),
        }
    return pd.DataFrame(rows).T, pd.DataFrame(summary).T


def _merit(found: pd.DataFrame, tasks: pd.Series, method: str) -> tuple[float, float]:
    """Do no harm first: the mean over families counts once each is at least as quick as random search."""
    families = [
        float(geometric([found.loc[task, method] for task in group.index])[0])
        for _, group in tasks.groupby(tasks)
    ]
    return min(1.0, *families), float(np.prod(families))


def shares_stopped(frame: pd.DataFrame, lengths: dict[str, int], method: str = "auto") -> dict[str, float]:
    """A lower bound of the share of trials that were stopped early: the share of results that was saved."""
    ends = outcomes(frame)
    ends = ends[ends["method"] == method]
    run = ends["n_results"] / (ends["n_trials"] * ends["problem"].map(lengths))
    means = 1 - run.groupby(ends["family"]).mean()
    return {str(family): float(share) for family, share in means.items()}
