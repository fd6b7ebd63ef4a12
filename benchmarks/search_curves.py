"""Regret over simulated time of `search_alg="auto"` under early stopping, beside other searchers.

    python benchmarks/search_curves.py run DATA --out results.jsonl [--quick] [--seeds 5]
        [--tasks NAME ...] [--methods NAME ...] [--neighbours 1 5] [--peer-python PEERS/bin/python]
    python benchmarks/search_curves.py table --out results.jsonl
    python benchmarks/search_curves.py model DATA [--seeds 3] [--tasks NAME ...]

`DATA` is the folder with `curves/`. Tasks are those of LCBench and TaskSet: a trial has the curve of the
recorded configuration that is nearest to its own (`--neighbours 1`), or a mean of those of the nearest 5, by
inverse distances. Four workers search for the time that they need for 30 whole trials, and a trial saves at
each report, so that `scheduler="auto"` pauses trials. Each method is a searcher and a scheduler; `bohb` and
`dehb` are Overtone's; `optuna` is Optuna's default sampler with its HyperbandPruner, on a heap of virtual
times; `syne asha` and `syne mobster` are Syne Tune's, on its simulator (LCBench with `--neighbours 1` alone),
if `--peer-python` has `syne-tune[gpsearchers]==0.13.*`. Searches in `--out` are not run again. `--quick`
takes two tasks of each family and two seeds. MOBSTER takes more than ten minutes of CPU for some searches:
`results/mobster.jsonl` has its searches so far, and `--out` may name it to go on.

`model` tells how much the model of `auto` knows: after so many Sobol' points with ASHA, the rank correlation
of its mean with the final values of all recorded configurations, as the mean over seeds.

Regret is the distance from the best recorded value, as a share of the distance between that value and the
median of final values. A figure is its mean over time, from a tenth of the budget on.
"""

from __future__ import annotations

import argparse
import heapq
import json
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from curves import Task, tables

from overtone import tune
from overtone.curves import CurveTable
from overtone.named import create_scheduler, create_searcher
from overtone.research import Problem, compare
from overtone.searchers import AutoSearch
from overtone.searchers.auto.encoding import Encoding
from overtone.searchers.auto.final_values import final_values
from overtone.searchers.auto.gaussian_process import Process
from overtone.searchers.auto.kernel_fit import fit
from overtone.searchers.auto.targets import ranked
from overtone.searchers.auto.training_data import Growing
from overtone.space import Cube

WORKERS = 4
WHOLE_TRIALS = 30
TRIALS = (16, 32, 64, 128)
"""After so many trials `model` looks at what is known."""
ETA = 3

LCBENCH = {
    "batch_size": tune.lograndint(16, 513),
    "learning_rate": tune.loguniform(1e-4, 1e-1),
    "momentum": tune.uniform(0.1, 0.99),
    "weight_decay": tune.uniform(1e-5, 1e-1),
    "num_layers": tune.randint(1, 6),
    "max_units": tune.lograndint(64, 1025),
    "max_dropout": tune.uniform(0.0, 1.0),
}
"""The space of Zimmer et al. (2021)."""

TASKSET = {
    "learning_rate": tune.loguniform(1e-8, 1e1),
    "1 - beta1": tune.loguniform(1e-4, 1.0),
    "1 - beta2": tune.loguniform(1e-6, 1.0),
    "epsilon": tune.loguniform(1e-10, 1e3),
    "l1": tune.loguniform(1e-8, 1e1),
    "l2": tune.loguniform(1e-8, 1e1),
    "linear_decay": tune.loguniform(1e-7, 1e-4),
    "exponential_decay": tune.loguniform(1e-6, 1e-3),
}
"""The space from which the configurations were drawn (Metz et al. 2020, Adam with 8 hyperparameters)."""

SPACES: dict[str, dict[str, Any]] = {"lcbench": LCBENCH, "taskset": TASKSET}

Step = tuple[float, float]
"""Seconds, and the best value by then."""


def rungs(name: str, **others: Any) -> Callable[[Problem], Any]:
    return lambda problem: create_scheduler(name, max_t=problem.max_t, reduction_factor=ETA, **others)


SCHEDULERS: dict[str, Any] = {
    "asha": rungs("asha", grace_period=1),
    "hyperband": rungs("hyperband"),
    "auto": "auto",
    "bohb": rungs("hb_bohb"),
    "dehb": rungs("dehb"),
}
METHODS = {
    **{f"{searcher} + {one}": (searcher, one) for one in ("asha", "hyperband", "auto")
       for searcher in ("auto", "random")},
    "bohb": ("bohb", "bohb"),
    "dehb": (None, "dehb"),
    "optuna": ("optuna", "hyperband"),
    "syne asha": ("syne", "asha"),
    "syne mobster": ("syne", "mobster"),
}  # fmt: skip


def in_terms_of(space: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """The configuration with the hyperparameters of the space, of which some are differences from 1."""
    return {name: 1.0 - config[name[4:]] if name.startswith("1 - ") else config[name] for name in space}


def problem_of(task: Task, neighbours: int) -> Problem:
    """The search problem of a task: its hyperparameters, and a budget of time."""
    columns = {name: task.table._columns[name] for name in task.table.metric_names}
    space = SPACES[task.family]
    table = CurveTable(
        [in_terms_of(space, one) for one in task.table.configs], columns, task.table._elapsed,
        lengths=task.table.lengths, surrogate=neighbours, space=space, name=task.table.__name__,
    )  # fmt: skip
    elapsed = task.table._elapsed
    whole = task.max_t if elapsed is None else float(np.mean([row[-1] for row in elapsed]))
    return Problem(
        table, task.metric, task.mode, name=task.name, family=task.family, max_t=task.max_t, num_samples=-1,
        space=table.space(), budget_s=WHOLE_TRIALS * whole / WORKERS, checkpoint_freq=1,
    )  # fmt: skip


def searched(method: str, problem: Problem, seed: int, peer_python: str | None = None) -> list[Step]:
    """The best value over time of one search."""
    searcher, scheduler = METHODS[method]
    if searcher == "syne":
        return peer_search(scheduler, problem, seed, str(peer_python))
    if searcher == "optuna":
        return optuna_search(problem, seed)

    def made(problem: Problem) -> Any:
        return create_searcher(searcher or "random", num_samples=-1)

    chosen: dict[str, Any] = {str(searcher): made if searcher in ("auto", "bohb") else None}
    frame = compare(
        {scheduler: SCHEDULERS[scheduler]}, chosen, [problem], WORKERS, [seed], processes=0, progress=False
    )
    if error := frame["error"].iloc[-1]:
        sys.exit(f"{method} on {problem.name}: {error}")
    return list(zip(frame["time_s"].tolist(), frame["value"].tolist(), strict=True))


def optuna_search(problem: Problem, seed: int) -> list[Step]:
    """Optuna's default sampler with its HyperbandPruner, on a heap of virtual times."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    is_max, length = problem.mode == "max", problem.max_t or 1
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=length, reduction_factor=ETA)
    study = optuna.create_study(
        direction="maximize" if is_max else "minimize", pruner=pruner,
        sampler=optuna.samplers.TPESampler(seed=seed),
    )  # fmt: skip
    heap: list[Any] = []
    steps: list[Step] = []
    n = 0

    def begin(now: float) -> None:
        nonlocal n
        trial = study.ask()
        curve = problem.trainable.curve_of({
            name: trial.suggest_int(name, domain.lower, domain.upper - 1, log=domain.log)
            if domain.name.endswith("randint") else
            trial.suggest_float(name, domain.lower, domain.upper, log=domain.log)
            for name, domain in problem.space.items()
        })  # fmt: skip
        n += 1
        heapq.heappush(heap, (now + curve(1)[1], n, 1, trial, curve))

    for _ in range(WORKERS):
        begin(0.0)
    best = float("nan")
    while heap:
        now, number, t, trial, curve = heapq.heappop(heap)
        if now > (problem.budget_s or 0.0):
            return [*steps, (problem.budget_s or 0.0, best)]
        value = curve(t)[0][problem.metric]
        if value == value and not (value <= best if is_max else value >= best):
            best = value
            steps.append((now, best))
        trial.report(value, t)
        coming = curve(t + 1)
        if coming is None or trial.should_prune():
            failed = optuna.trial.TrialState.FAIL if value != value else None
            pruned = optuna.trial.TrialState.PRUNED if coming is not None else None
            study.tell(trial, None if failed or pruned else value, state=failed or pruned)
            begin(now)
        else:
            heapq.heappush(heap, (now + coming[1], number, t + 1, trial, curve))
    return steps


def peer_search(method: str, problem: Problem, seed: int, peer_python: str) -> list[Step]:
    """A search of Syne Tune, in a Python that has it."""
    sign = 1.0 if problem.mode == "max" else -1.0
    table, length = problem.trainable, problem.max_t or 1
    rows = [[table.curve_of({"row": row})(t) for t in range(1, length + 1)] for row in range(len(table))]
    domains = {
        name: {"low": one.lower, "high": one.upper - one.name.endswith("randint"), "is_log": bool(one.log),
               "is_int": one.name.endswith("randint")}
        for name, one in problem.space.items()
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        np.savez(
            path, scores=[[sign * point[0][problem.metric] for point in row] for row in rows],
            elapsed=np.cumsum([[point[1] for point in row] for row in rows], axis=1),
            budget_s=problem.budget_s or 0.0, n_workers=WORKERS, eta=ETA, domains=json.dumps(domains),
            configs=json.dumps(table.configs),
        )  # fmt: skip
        script = Path(__file__).with_name("peer_searches.py")
        done = subprocess.run(
            [peer_python, str(script), str(path), method, str(seed)], capture_output=True, text=True
        )
    if done.returncode:
        sys.exit(f"syne {method} on {problem.name}: {done.stderr[-2000:]}")
    steps = [(at, sign * value) for at, value in json.loads(done.stdout)["steps"]]
    return [*steps, (problem.budget_s or 0.0, steps[-1][1])]


def regret(problem: Problem, steps: list[Step]) -> tuple[float, float]:
    """Mean regret over time, and regret at the end."""
    sign = 1.0 if problem.mode == "max" else -1.0
    table, length = problem.trainable, problem.max_t or 1
    finals = []
    for row in range(len(table)):
        values = [sign * table.curve_of({"row": row})(t)[0][problem.metric] for t in range(1, length + 1)]
        finals.append(np.nan_to_num(max(one for one in [*values, -np.inf] if one == one), neginf=-1e9))
    best, middle = max(finals), statistics.median(finals)
    budget = problem.budget_s or 0.0
    times, values = np.array([0.0, *(one[0] for one in steps)]), [middle, *(sign * one[1] for one in steps)]
    at = np.searchsorted(times, np.linspace(0.1, 1, 91) * budget, side="right") - 1
    regrets = np.minimum((best - np.maximum.accumulate(values)[at]) / (best - middle), 1.0)
    return float(regrets.mean()), float(regrets[-1])


def run(args: argparse.Namespace) -> None:
    """Every search that `out` lacks, one seed after the other."""
    known = {(one["method"], one["task"], one["neighbours"], one["seed"]) for one in results(args.out)}
    problems = [(n, one) for n in args.neighbours for one in wanted(args, n)]
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        for neighbours, problem in problems:
            for method in args.methods:
                if (method, problem.name, neighbours, seed) in known:
                    continue
                mean, end = regret(problem, searched(method, problem, seed, args.peer_python))
                found = {"method": method, "task": problem.name, "family": problem.family, "seed": seed,
                         "neighbours": neighbours,
                         "mean": mean, "end": end}  # fmt: skip
                with args.out.open("a") as file:
                    file.write(json.dumps(found) + "\n")


class Watched(AutoSearch):
    """Tries Sobol' points alone, and notes how much the model of `auto` would know.

    Attributes:
        known: By the number of trials, the rank correlation of the model's mean with the final values.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(num_samples=-1)
        sign, table, cube = 1.0 if problem.mode == "max" else -1.0, problem.trainable, Cube(problem.space)
        finals = [sign * row[-1] for row in table._columns[problem.metric]]
        self._truth = ranks(np.nan_to_num(finals, nan=-np.inf))
        self._encoding = Encoding(cube)
        self._at = self._encoding.columns(np.array([cube.to_unit(one) for one in table.configs]))
        self.known: dict[int, float] = {}

    def _candidates(self, index: int) -> Iterator[Any]:
        if index in TRIALS:
            seen = Growing(self._encoding).of(self._told.observations)
            values, noise = final_values(seen, ranked)
            kernel = fit(seen.x, values, self._encoding.groups, noise)
            mean, _ = Process(kernel, seen.x, values, noise, None, True).predict(self._at)
            self.known[index] = float(np.corrcoef(ranks(mean), self._truth)[0, 1])
        yield self._sobol.point(index)


def ranks(values: Any) -> Any:
    return np.argsort(np.argsort(values))


def model(args: argparse.Namespace) -> None:
    """A table of what the model knows."""
    print(f"| task | {' | '.join(f'{n} trials' for n in TRIALS)} |\n|---|{'---:|' * len(TRIALS)}")
    every = []
    for problem in wanted(args, 1):
        made: list[Watched] = []

        def search(problem: Problem, made: list[Watched] = made) -> Watched:
            made.append(Watched(problem))
            return made[-1]

        seeds = range(args.first_seed, args.first_seed + args.seeds)
        compare(
            {"asha": SCHEDULERS["asha"]}, {"sobol": search}, [problem], WORKERS, seeds, processes=0,
            progress=False,
        )  # fmt: skip
        known = [[one.known[n] for one in made if n in one.known] for n in TRIALS]
        every.append([statistics.mean(some) if some else float("nan") for some in known])
        print(f"| {problem.name} | {' | '.join(f'{one:.2f}' for one in every[-1])} |", flush=True)
    print(f"| mean | {' | '.join(f'{one:.2f}' for one in np.nanmean(every, axis=0))} |")


def wanted(args: argparse.Namespace, neighbours: int) -> Iterator[Problem]:
    for family in args.families:
        for i, task in enumerate(tables(args.data, family)):
            is_asked = task.name in args.tasks if args.tasks else not args.quick or i < 2
            if is_asked:
                yield problem_of(task, neighbours)


def results(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []


def interval(values: list[float]) -> str:
    """The mean with its 95 % bootstrap interval over seeds."""
    drawn = np.random.default_rng(0).choice(values, (2000, len(values))).mean(1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{statistics.mean(values):.3f} ({low:.3f} to {high:.3f})"


def table(out: Path) -> None:
    """Means over seeds of the regret over time, as Markdown."""
    found = results(out)
    methods = [one for one in METHODS if any(row["method"] == one for row in found)]
    for family, n in sorted({(row["family"], row["neighbours"]) for row in found}):
        some = [row for row in found if (row["family"], row["neighbours"]) == (family, n)]
        n_seeds = len({row["seed"] for row in some})
        ratios: list[str] = []
        print(f"\n{family}, neighbours: {n}, seeds: {n_seeds}\n")
        print(f"| task | {' | '.join(methods)} |\n|---|{'---:|' * len(methods)}")
        for task in dict.fromkeys(row["task"] for row in some):
            by = {method: [row["mean"] for row in some if (row["task"], row["method"]) == (task, method)]
                  for method in methods}  # fmt: skip
            cells = [interval(values) if values else "-" for values in by.values()]
            shown = task.replace("FixedTextRNNClassification_", "")
            for one in [one for one in methods if one.startswith("auto + ")]:
                if others := by.get(one.replace("auto", "random")):
                    ratios.append(f"{shown}, {one}: {ratio(by[one], others)}")
            print(f"| {shown} | {' | '.join(cells)} |")
        print("\nRegret of auto over that of random search with the same scheduler:\n")
        print("\n".join(ratios))


def ratio(values: list[float], others: list[float]) -> str:
    """The ratio of two means with its 95 % bootstrap interval over seeds."""
    rng = np.random.default_rng(0)
    above, below = (rng.choice(one, (4000, len(one))).mean(1) for one in (values, others))
    low, high = np.quantile(above / below, [0.025, 0.975])
    return f"{statistics.mean(values) / statistics.mean(others):.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=["run", "table", "model"])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, default=Path("search-curves.jsonl"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--families", nargs="+", default=["lcbench", "taskset"])
    parser.add_argument("--neighbours", nargs="+", type=int, default=[1, 5])
    parser.add_argument("--tasks", nargs="*", default=[])
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--peer-python", help="a Python with syne-tune[gpsearchers]==0.13.*")
    args = parser.parse_args()
    args.methods = args.methods or [one for one in METHODS if args.peer_python or "syne" not in one]
    if args.what == "table":
        table(args.out)
        return
    args.seeds = args.seeds or (2 if args.quick else 5)
    (model if args.what == "model" else run)(args)


if __name__ == "__main__":
    main()
