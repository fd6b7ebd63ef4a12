"""How much sooner schedulers find one of the best configurations of recorded curves, and what it costs.

    python benchmarks/schedulers.py DATA [--quick] [--seeds 10] [--parts families misleading spot peers]
        [--families lcbench algoperf taskset] [--schedulers random asha ...]
        [--peer-python PYTHON] [--docs docs]

`DATA` is the folder with `curves/`. Each search draws configurations, with replacement; it ends when
a report first is as good as the best value of the worst of the best configurations: 1 % of them (AlgoPerf:
5 %) on 4 workers, 0.2 % (2 %) on 25. A figure is the median time of random search over that of the
scheduler; over tasks, their geometric mean; intervals are 95 % bootstrap intervals over seeds. Variants of
`auto` are chosen on two thirds of the tasks of a family and judged on the others. `misleading` has curves
whose early values mislead. `spot` has the price of the same on machines that are taken away; `peers` runs
Syne Tune's simulator and Optuna's pruners (`--peer-python` has both) on the same configurations in the
same order. Figures that miss what is wanted are marked; `--docs` writes schedulers-compared.md and its plots.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from auto_rule import (
    OURS,
    STOPS,
    family_table,
    fold_table,
    misleading_problems,
    misled_table,
    shares_stopped,
)
from curves import Task, tables

from overtone.engines.simulated import Machines, World
from overtone.named import create_scheduler
from overtone.research import Problem, compare, outcomes, speedups

WORKERS = 4
ETA = 3
SETTINGS = {4: (0.01, 0.05), 25: (0.002, 0.02)}
"""Of each number of workers, the share of configurations that counts as best; the second is AlgoPerf's."""
WITH_MANY_WORKERS = ("asha", "promote", "auto")  # what is compared on 25 workers

DRAWS = 3  # of each row, before a search gives up
MISLED_DRAWS = 1000
FIRST = {"algoperf": 16}
"""The first rung, where it is not 1: the first values there tell nothing."""

ON_DEMAND, DISCOUNT, LIFE_S = 1.0, 0.7, 2 * 3600
COSTS = {"start_s": 30.0, "save_s": 2.0, "restore_s": 2.0}


def machines(price: float, **others) -> World:
    return World(machines=[Machines(count=WORKERS, price_per_hour=price, **others)], **COSTS)


SPOT_PRICE = ON_DEMAND * (1 - DISCOUNT)
SPOT = {
    "on demand": machines(ON_DEMAND),
    "spot": machines(SPOT_PRICE, mean_life_s=LIFE_S, return_s=60, notice_s=120),
    "spot, no notice": machines(SPOT_PRICE, mean_life_s=LIFE_S, return_s=60),
}


def made(name: str, problem: Problem):
    """The scheduler of this name, as the comparison runs it."""
    first, length = FIRST.get(problem.family, 1), problem.max_t
    rungs = {"max_t": length, "reduction_factor": ETA}
    if name in ("asha", "promote"):
        rule = "promote" if name == "promote" else "stop"
        return create_scheduler("asha", **rungs, grace_period=first, rule=rule)
    if name == "halving":
        return create_scheduler("successive_halving", **rungs, grace_period=first)
    if name in ("hyperband", "pasha"):
        return create_scheduler(name, **rungs)
    if name == "median":
        return create_scheduler("median", time_attr="training_iteration", grace_period=first)
    if name in OURS:
        return OURS[name]()
    return create_scheduler("fifo" if name == "random" else name)


def of_name(name: str):
    return lambda problem: made(name, problem)


def problems(
    data: Path,
    families: list[str],
    most: int | None = None,
    workers: int = WORKERS,
    checkpoint_freq: int | None = None,
) -> dict[str, Problem]:
    """The tasks of the families, by short names."""
    found: dict[str, Problem] = {}
    for family in families:
        for i, task in enumerate(tables(data, family)):
            if most is None or i < most:
                found[short(task)] = Problem.of_table(
                    task.table, task.metric, task.mode, draws=DRAWS, name=short(task), family=family,
                    best=SETTINGS[workers][family == "algoperf"], checkpoint_freq=checkpoint_freq,
                )  # fmt: skip
    return found


def short(task: Task) -> str:
    shown = task.name.replace("FixedTextRNNClassification_", "") or task.table.__name__
    return f"{task.family} {shown}"


def mean(values: pd.Series) -> float:
    """The geometric one."""
    return float(np.exp(np.log(values).mean()))


# --- the parts -----------------------------------------------------------------------------------


def families(data: Path, args: argparse.Namespace, workers: int) -> pd.DataFrame:
    """The frame of all searches of the comparison."""
    asked = [name for name in args.schedulers if workers == WORKERS or name in WITH_MANY_WORKERS]
    names = [name for name in asked if name not in OURS]
    variants = [name for name in OURS if "auto" in args.schedulers]
    return compare(
        {name: of_name(name) for name in ["random", *names, *variants]},
        problems=problems(data, args.families, args.tasks, workers, checkpoint_freq=1),
        workers=workers,
        seeds=args.seeds,
        ends_at_target=True,
        processes=args.processes,
    )


def misled(data: Path, args: argparse.Namespace) -> pd.DataFrame:
    """The frame of all searches on curves whose early values mislead."""
    return compare(
        {name: of_name(name) for name in ["random", "auto", STOPS]},
        problems=misleading_problems(SETTINGS[WORKERS][0], MISLED_DRAWS),
        workers=WORKERS,
        seeds=args.misled_seeds,
        ends_at_target=True,
        processes=args.processes,
    )


def spot(data: Path, args: argparse.Namespace) -> pd.DataFrame:
    """What ASHA pays until it has found one of the best, on demand and on spot machines."""
    return compare(
        {"asha": of_name("asha")},
        problems=problems(data, ["lcbench"], args.tasks),
        workers=SPOT,
        seeds=args.seeds,
        ends_at_target=True,
        processes=args.processes,
    )


def peers(data: Path, args: argparse.Namespace) -> pd.DataFrame:
    """Times to the target of Overtone, Syne Tune and Optuna, for the same configurations."""
    tried = problems(data, ["lcbench"], args.tasks)
    jobs = {
        "syne_tune": ["random", "asha", "median"],
        "optuna": ["random", "halving", "hyperband", "median"],
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tasks.npz"
        np.savez(file, **dict[str, Any](arrays(tried, args.peer_seeds)))
        script = Path(__file__).with_name("peer_schedulers.py")
        command = [args.peer_python, str(script), str(file)]
        logs = {tool: Path(folder) / f"{tool}.log" for tool in jobs}
        running = {
            tool: subprocess.Popen(
                [*command, tool, *which], stdout=subprocess.PIPE, stderr=logs[tool].open("w"), text=True
            )
            for tool, which in jobs.items()
        }
        texts = [one.communicate()[0] for one in running.values()]
        for tool, one in running.items():
            if one.returncode:
                sys.exit(f"{tool} ended with {one.returncode}:\n{logs[tool].read_text()[-3000:]}")
    rows = [json.loads(line) for text in texts for line in text.splitlines()]
    ours = compare(
        {name: of_name(name) for name in ("random", "asha", "median")},
        problems=tried, workers=WORKERS, seeds=args.peer_seeds, ends_at_target=True, processes=args.processes,
    )  # fmt: skip
    mine = outcomes(ours)[["scheduler", "problem", "seed", "reached_s"]].rename(
        columns={"reached_s": "time_s"}
    )
    return pd.concat([mine.assign(tool="overtone"), pd.DataFrame(rows)], ignore_index=True)


def arrays(tried: dict[str, Problem], n_seeds: int) -> Iterator[tuple[str, np.ndarray]]:
    """The tasks as arrays, and the order in which each seed's search draws their rows."""
    from overtone.searchers import BasicVariantGenerator
    from overtone.space import parse

    yield "names", np.array([*tried])
    for i, problem in enumerate(tried.values()):
        table, length = problem.trainable, problem.max_t or 0
        points = [[table({"row": row}, t) for t in range(1, length + 1)] for row in range(len(table))]
        yield f"{i}_scores", np.array([[one[0][problem.metric] for one in row] for row in points])
        yield f"{i}_elapsed", np.cumsum([[one[1] for one in row] for row in points], axis=1)
        yield f"{i}_target", np.array(problem.target)
        orders = []
        for seed in range(n_seeds):
            searcher = BasicVariantGenerator(num_samples=problem.num_samples)
            searcher.on_start(parse(table.space()), seed)
            drawn = (searcher.suggest(n) for n in range(problem.num_samples))
            orders.append([config["row"] for config in drawn if config is not None])
        yield f"{i}_orders", np.array(orders)


# --- what is told --------------------------------------------------------------------------------


class Told:
    """Tables and figures, printed as they come and kept as Markdown."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.checks: list[tuple[str, str, str, bool]] = []

    def say(self, text: str) -> None:
        print(text, flush=True)
        self.parts.append(text)

    def table(self, frame: pd.DataFrame, shown: str = "{:.2f}", corner: str = "") -> None:
        lines = [
            f"| {corner} | {' | '.join(map(str, frame.columns))} |",
            "|---|" + "--:|" * len(frame.columns),
        ]
        for name, row in frame.iterrows():
            cells = [
                one if isinstance(one, str) else "-" if np.isnan(one) else shown.format(one) for one in row
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        self.say("\n".join(lines) + "\n")

    def check(self, what: str, value: float, least: float, most: float = float("inf")) -> None:
        wanted = (
            f"at least {least:g}"
            if most == float("inf")
            else f"{least:g} to {most:g}"
            if least
            else f"at most {most:g}"
        )
        self.checks.append((what, f"{value:.3g}", wanted, least <= value <= most))

    def verdict(self) -> pd.DataFrame:
        rows = {
            what: [value, wanted, "yes" if is_met else "NO"] for what, value, wanted, is_met in self.checks
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=["measured", "wanted", "met"])


def tell_families(told: Told, frame: pd.DataFrame, workers: int, lengths: dict[str, int]) -> None:
    best, of_algoperf = SETTINGS[workers]
    n_seeds = frame["seed"].nunique()
    told.say(
        f"## {workers} workers, to one of the best {100 * best:g} % (AlgoPerf: {100 * of_algoperf:g} %), "
        f"{n_seeds} seeds\n"
    )
    told.say("How many times sooner than random search:\n")
    ends = outcomes(frame)
    told.table(speedups(frame, "random").drop(columns="random"), corner="task")
    gave_up = ends[~ends["is_reached"]].groupby(["method"]).size().to_dict()
    methods = [name for name in ends["method"].unique() if name != "random"]
    told.say("Geometric means with 95 % intervals over seeds, and the worst task:\n")
    told.table(family_table(frame, methods).T, corner="scheduler")
    if gave_up:
        told.say(
            f"Searches that gave up, after {DRAWS} draws of each configuration: "
            + ", ".join(f"{name} {n} of {(ends['method'] == name).sum()}" for name, n in gave_up.items())
            + ". They count as censored; if half of them gave up, the ratio is at most what is shown.\n"
        )
    if "auto" in methods:
        tell_folds(told, frame, [name for name in methods if name not in OURS], workers, lengths)


def tell_folds(
    told: Told, frame: pd.DataFrame, rivals: list[str], workers: int, lengths: dict[str, int]
) -> None:
    folds, summary = fold_table(frame, rivals)
    told.say(
        "One variant of `auto` for all families is chosen on two thirds of the tasks of each, and judged on "
        "the others:\n"
    )
    told.table(folds, corner="fold")
    told.say("All held-out tasks of each family, with the variant that was chosen without them:\n")
    told.table(summary, corner="family")
    stopped = shares_stopped(frame, lengths)
    shown = ", ".join(f"{family} {share:.2f}" for family, share in stopped.items() if family != "algoperf")
    told.say(f"Share of trials that `auto` stopped early, at least: {shown}.\n")

    def first(text: str) -> float:
        return float(text.split()[0])

    for family, row in summary.iterrows():
        name = f"{family}, {workers} workers: `auto`"
        if family == "algoperf":
            told.check(f"{name} against random", first(row["against random"]), 1.0)
            told.check(f"{name}, worst task", first(row["worst task"]), 0.7)
        else:
            told.check(f"{name} against ASHA", first(row["against ASHA"]), 0.8)
            told.check(f"{name} against the best other, {row['best other']}", first(row["against it"]), 0.85)
            told.check(f"{name}, share stopped early", stopped[str(family)], 0.5)


def tell_misled(told: Told, frame: pd.DataFrame) -> None:
    told.say(f"## Curves that mislead ({WORKERS} workers, the best 1 %, {frame['seed'].nunique()} seeds)\n")
    told.say(
        "Mean time of random search over mean time, with 95 % intervals over seeds. Each seed draws its own "
        "configurations. `overtone.testing.curves.misleading` has the curves.\n"
    )
    table, means = misled_table(frame, ["auto", STOPS])
    told.table(table, corner="curves")
    for name, ratio in means.items():
        told.check(f"misleading curves: `{name}` against random", ratio, 0.9)


def tell_spot(told: Told, frame: pd.DataFrame) -> None:
    ends = outcomes(frame)
    table = ends.groupby("workers", sort=False).agg(
        found=("is_reached", "mean"), hours=("time_s", lambda one: one.mean() / 3600), price=("cost", "mean"),
        training_hours=("trial_s", lambda one: one.mean() / 3600),
    )  # fmt: skip
    # what a dead process had done since it last saved, over all that was trained
    table["done_twice"] = ends.groupby("workers")["lost_s"].sum() / ends.groupby("workers")["trial_s"].sum()
    told.say(
        f"## The price on machines that are taken away (ASHA, LCBench, {frame['seed'].nunique()} seeds)\n"
    )
    told.say(
        f"{WORKERS} machines at 1.0 an hour, or at a discount of {DISCOUNT:.0%} with a mean life of "
        f"{LIFE_S / 3600:g} hours, 2 minutes of notice or none, and another one a minute later; starting a "
        "trial takes 30 s, saving 2 s, restoring 2 s more. Means over searches, each until it has found one "
        "of the best 1 %.\n"
    )
    told.table(table.rename(columns=lambda one: one.replace("_", " ")), "{:.3f}", corner="machines")
    for name in list(SPOT)[1:]:
        price = table.loc[name, "price"] / table.loc["on demand", "price"]
        told.check(f"{name}: price over on demand", price, 0, 0.4)
        told.check(f"{name}: share of the work done twice", table.loc[name, "done_twice"], 0, 0.1)


def tell_peers(told: Told, frame: pd.DataFrame) -> None:
    medians = frame.groupby(["problem", "tool", "scheduler"], sort=False)["time_s"].median().unstack([1, 2])
    ratios = pd.DataFrame({
        f"{tool} {name}": medians[(tool, "random")] / medians[(tool, name)]
        for tool, name in medians.columns if name != "random"
    })  # fmt: skip
    ratios.loc["geometric mean"] = ratios.agg(mean)
    told.say(
        f"## Beside Syne Tune's simulator and Optuna's pruners (LCBench, {frame['seed'].nunique()} seeds)\n"
    )
    told.say(
        "The same configurations in the same order, each tool against its own random search. Syne Tune's "
        "simulator looks at results every 5 virtual seconds, as it does by default.\n"
    )
    told.table(ratios, corner="task")
    same = medians[("overtone", "random")] / medians[("syne_tune", "random")]
    told.say(
        f"Random search takes {mean(same):.3f} of the virtual time that it takes in Syne Tune's simulator.\n"
    )
    took = frame.groupby("tool")["took_s"].sum().drop("overtone")
    told.say(
        "Wall time of their searches: "
        + ", ".join(f"{tool} {one:.0f} s" for tool, one in took.items())
        + ".\n"
    )


def pictures(frame: pd.DataFrame, folder: Path) -> list[tuple[str, str]]:
    """The plots' files and what they show."""
    from overtone.research import plot_critical_differences, plot_ranks, plot_times_to_target

    folder.mkdir(exist_ok=True)
    found = []
    for family in frame["family"].unique():
        figure = plot_times_to_target(frame[frame["family"] == family])
        figure.savefig(folder / f"schedulers-{family}.png", dpi=80)
        found.append(
            (
                f"schedulers-{family}.png",
                f"{family}: the share of searches on {WORKERS} workers that have found one of the best",
            )
        )
    for name, plot, what in [
        ("ranks", plot_ranks, "mean ranks by the best value so far, over all tasks and seeds"),
        ("differences", plot_critical_differences, "mean ranks by the median time to the target"),
    ]:
        plot(frame).savefig(folder / f"schedulers-{name}.png", dpi=90)
        found.append((f"schedulers-{name}.png", what))
    return found


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("data", type=Path)
    parser.add_argument("--quick", action="store_true", help="two tasks a family, 3 seeds, 4 workers")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--misled-seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, nargs="+", choices=[*SETTINGS], default=[*SETTINGS])
    parser.add_argument("--parts", nargs="+", default=["families", "misleading", "spot", "peers"])
    parser.add_argument("--families", nargs="+", default=["lcbench", "algoperf", "taskset"])
    parser.add_argument(
        "--schedulers", nargs="+",
        default=["asha", "promote", "halving", "hyperband", "median", "auto"],
    )  # fmt: skip
    parser.add_argument("--peer-python", help="a Python with syne-tune and optuna; without it, no peers")
    parser.add_argument("--peer-seeds", type=int, default=3)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--docs", type=Path, help="where to write schedulers-compared.md and images/")
    parser.add_argument(
        "--keep", type=Path, help="a folder for the searches; what is there is not done again"
    )
    args = parser.parse_args()
    args.tasks = None
    if args.quick:
        args.seeds, args.peer_seeds, args.tasks, args.misled_seeds = min(args.seeds, 3), 1, 2, 2
        args.workers = [WORKERS]
    told, began, frame = Told(), time.monotonic(), None
    if "families" in args.parts:
        lengths = {name: one.max_t or 0 for name, one in problems(args.data, args.families).items()}
        for workers in args.workers:
            found = kept(f"families_{workers}", partial(families, workers=workers), args)
            tell_families(told, found, workers, lengths)
            frame = found if frame is None else frame
        if missing := [f"{one} workers" for one in SETTINGS if one not in args.workers]:
            told.say(f"Not measured this time: {', '.join(missing)}.\n")
    if "misleading" in args.parts:
        tell_misled(told, kept("misleading", misled, args))
    if "spot" in args.parts:
        tell_spot(told, kept("spot", spot, args))
    if "peers" in args.parts and args.peer_python:
        tell_peers(told, kept("peers", peers, args))
    verdict = told.verdict()
    print("## What was wanted\n")
    head = Told()
    head.table(verdict, corner="figure")
    print(f"{time.monotonic() - began:.0f} s")
    if args.docs:
        write(args.docs, told, head, frame)


def kept(name: str, make, args: argparse.Namespace) -> pd.DataFrame:
    """What `make` gives, or gave before."""
    if args.keep is None:
        return make(args.data, args)
    args.keep.mkdir(parents=True, exist_ok=True)
    file = args.keep / f"{name}.pkl"
    if not file.exists():
        make(args.data, args).to_pickle(file)
    return pd.read_pickle(file)


def earlier(page: Path, told: Told) -> Iterator[str]:
    """Sections of the page that were not measured this time, as they were."""
    old = page.read_text("utf-8") if page.exists() else ""
    for section in re.findall(r"^## .*?(?=^## |\Z)", old, re.DOTALL | re.MULTILINE):
        title = section.split("(")[0].strip()
        if title.startswith(("## The price", "## Beside")) and not any(title in part for part in told.parts):
            note = "Measured earlier, with `--parts spot peers --peer-python PEER_PYTHON`"
            note += " (syne-tune 0.16 and optuna 5) and 2 draws of each configuration;"
            note += " `auto` plays no part.\n"
            head, _, rest = section.rstrip().partition("\n")
            yield (section.rstrip() if note in section else f"{head}\n\n{note}{rest}") + "\n"


def _sentence(what: str) -> str:
    names = {"lcbench": "LCBench", "algoperf": "AlgoPerf", "taskset": "TaskSet"}
    family = what.partition(":")[0]
    return what.replace(family, names.get(family, family.capitalize()), 1) + "."


def write(folder: Path, told: Told, head: Told, frame: pd.DataFrame | None) -> None:
    """The page, with the command that makes it."""
    shown = sys.argv[1:]
    for option in ("--keep",):
        if option in shown:
            at = shown.index(option)
            del shown[at : at + 2]
    command = " ".join(["python benchmarks/schedulers.py", "DATA", *shown[1:]])
    if "--peer-python" in shown:
        command = command.replace(shown[shown.index("--peer-python") + 1], "PEER_PYTHON")
    images = pictures(frame, folder / "images") if frame is not None else []
    plots = "\n\n".join(f"![{what}](images/{name})\n\n{_sentence(what)}" for name, what in images)
    kept_parts = "\n".join(earlier(folder / "schedulers-compared.md", told))
    text = f"""# Schedulers compared

Recorded learning curves, run again on the simulated engine: LCBench (8 tasks, 500 configurations, 50 epochs;
Zimmer et al. 2021), AlgoPerf (7 workloads, real training logs; Dahl et al. 2023) and TaskSet (6 tasks, 1,000
configurations, 51 checkpoints, the first of which is before training; Metz et al. 2020). Unless stated
otherwise, all figures and plots of this page come from

```
{command}
```

where DATA is the folder with `curves/`. Each search draws configurations with replacement and ends at the
first report that is as good as the best value of the worst of the best configurations; eta is 3, the first
rung 1 (AlgoPerf: 16). A figure is the median time of random search over that of the scheduler: 2 means that
it takes half the time. `promote` is ASHA with `rule="promote"`, `halving` synchronous successive halving.
`python benchmarks/schedulers.py DATA --quick` is rougher and takes about a minute on two idle cores.

## Goals

{"".join(head.parts)}
`auto` is judged on tasks that played no part in the choice of its variant. The best other scheduler is chosen
after the fact, family by family, among all columns and random search; by ranks over all tasks (the last plot)
methods that a bar joins cannot be told apart. With 20 seeds, the worst AlgoPerf workload on 4 workers misses
its goal; with 100 seeds it has 0.72 (see [below](#how-auto-was-chosen)).

{chr(10).join(told.parts)}
{kept_parts}
## Plots

{plots}

## How `auto` was chosen

`auto` knows neither the family nor how long trials are; `help(AutoScheduler)` says how it decides.
[Decision 0015](decisions/0015-auto-begins-without-belief.md) says why. Three variants of it are judged above
by folds: they differ in how far a correlation is lowered for its uncertainty and in the least share of whole
runs. The form of the rule and its other constants were chosen on all of these tasks and on misleading curves,
in a simplified simulation. The folds do not correct for that: expect less on new families.

Trials save at each report here, which takes no time. `auto` pauses such trials, and lets them go on once
its belief has changed, so that it can be bolder. `auto, stops` is what it does to trials that save nothing;
it is `create_scheduler("auto", pause=False)`. On 25 workers, asynchronous schedulers alone are compared.

`auto` gives a tenth of the time to whole runs at first (a quarter if it stops trials), and pauses other
trials as soon as their ranks were seen to be stable. The time of these whole runs, and the caution with
which few observations are believed, are what separates it from ASHA where early values predict final
values. If you know that they do, use `scheduler="asha"`; if you know that they do not, use FIFO.
`create_scheduler("auto", first_whole=1)` stops no trial before two ran to their end.

The figure of a single AlgoPerf workload has a wide interval, and the worst of seven is the minimum of seven
such figures. With 100 seeds on 4 workers, `auto` is 1.12 times as fast as random search there (1.00 to 1.23),
and its worst workload is wmt with 0.72 (0.56 to 0.94). ASHA has 0.66 (0.56 to 0.71), worst 0.08. If folds
choose the variant on AlgoPerf alone, workloads that were held out have 1.06 (0.96 to 1.17), worst 0.72:

```
python benchmarks/schedulers.py DATA --families algoperf --workers 4 --seeds 100 \\
    --schedulers asha auto --parts families
```

## A comparison of your own

`pip install "overtone[research]"`; a problem is a table of curves, a function of the config and `t`, or an
ordinary trainable that calls `tune.simulate_time`:

```python
from overtone import tune
from overtone.research import Problem, compare, report, speedups
from overtone.tune.schedulers import ASHAScheduler


def curve(config, t):  # metrics, and the seconds that the iteration took
    return ({{"loss": abs(config["lr"] - 0.3) + 1 / t}}, 60.0) if t <= 27 else None


problem = Problem(curve, "loss", "min", space={{"lr": tune.uniform(0, 1)}}, target=0.05, max_t=27)
schedulers = {{
    "random": "fifo",
    "ASHA": lambda problem: ASHAScheduler(max_t=problem.max_t, reduction_factor=3),
    "auto": "auto",
}}
frame = compare(schedulers, problems=[problem], workers=[4, 16], seeds=10)
print(speedups(frame, "random"))
report(frame, "comparison.html", baseline="random")
```
"""
    (folder / "schedulers-compared.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
