"""Variants of `scheduler="auto"` on recorded and misleading curves, in a simulation without an engine.

    python benchmarks/auto_simulated.py DATA [--families lcbench algoperf taskset misleading] [--workers 4]
        [--seeds 20] [--first-seed 1000] [--variants auto auto:doubt=0.2,caution=0.5,first_whole=0.15 ...]
        [--stops]

Quicker than `schedulers.py`, with the same curves, targets and draws of rows with replacement, and with the
product's `AutoScheduler`, so that constants can be compared on many seeds. A variant sets `caution` (standard
errors by which a correlation is lowered), `doubt` (the share of whole runs is at least doubt over the
estimated speed-up) and `first_whole`. All variants get the same configurations. Trials save at each report,
so that they can be paused; with `--stops` they save nothing. A figure is the median time of random search
over that of the variant (misleading curves: of the means), with 95 % intervals over
seeds; of families also their least and their geometric mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
from auto_rule import LENGTH, geometric, interval, resampled
from curves import tables
from schedulers import DRAWS, MISLED_DRAWS, SETTINGS, short

from overtone.core.decision import Pause, Stop
from overtone.core.goal import Goal
from overtone.core.randomness import keyed
from overtone.core.trial import Status
from overtone.core.types import WORST, Checkpoint, Result
from overtone.schedulers.auto import AutoScheduler
from overtone.schedulers.fifo import FIFOScheduler
from overtone.schedulers.whole_runs import PAUSING, STOPPING
from overtone.testing.curves import MISLEADING, misleading

Row = tuple[np.ndarray, np.ndarray]
"""The scores of a configuration, with mode "max", and the seconds of each iteration."""


def rows_of(table: Any, metric: str, mode: str) -> list[Row]:
    sign = 1.0 if mode == "max" else -1.0
    rows = []
    for k in range(len(table)):
        at, t, points = table.curve_of({"row": k}), 1, []
        while (point := at(t)) is not None:
            points.append((sign * float(point[0][metric]), point[1]))
            t += 1
        scores, seconds = np.array(points).T
        rows.append((np.nan_to_num(scores, nan=WORST), seconds))
    return rows


def target_of(rows: list[Row], best: float) -> float:
    bests = sorted(scores.max() for scores, _ in rows if scores.max() > WORST)
    return float(bests[-max(1, round(best * len(rows)))])


def misled_rows(kind: str, draw: Random) -> Row:
    curve, config = misleading(kind, LENGTH), {"final": draw.random(), "other": draw.random()}
    return np.array([curve(config, t)["score"] for t in range(1, LENGTH + 1)]), np.ones(LENGTH)


def misled_row_of(kind: str, seed: int, k: int) -> Row:
    return misled_rows(kind, keyed(seed, "configs", str(k)))


def row_of(rows: list[Row], seed: int, k: int) -> Row:
    return rows[keyed(seed, "configs", str(k)).randrange(len(rows))]


class View:
    """What the scheduler sees of the search: every trial fits whenever a worker is free."""

    def __init__(self, seed: int) -> None:
        self.goal = Goal("score", "max", is_needed=True)
        self.seed, self.search_is_over = seed, False
        self.trials: dict[str, Any] = {}
        self.waiting: dict[str, Any] = {}

    def random(self, *what: Any) -> Random:
        return keyed(self.seed, *what)

    def runnable(self) -> list[Any]:
        return sorted(self.waiting.values(), key=lambda trial: (trial.status is Status.PAUSED, trial.index))

    def first_runnable(self) -> Any:
        return next(iter(self.runnable()), None)

    def fits(self, trial: Any) -> bool:
        return True


def search(
    scheduler: Any,
    row_at: Callable[[int], Row],
    target: float,
    n_workers: int,
    draws: int,
    seed: int,
    saves: bool = True,
) -> float:
    """Return the time of the first report that reaches the target, or of the last report."""
    view = View(seed)
    scheduler.on_start(view)
    running: list[tuple[float, int, SimpleNamespace]] = []
    n, now = 0, 0.0

    def end(trial: SimpleNamespace) -> None:
        trial.status = Status.TERMINATED
        view.waiting.pop(trial.id, None)
        scheduler.on_trial_end(trial)

    def start() -> None:
        nonlocal n
        if n < draws and not any(trial.status is Status.PENDING for trial in view.waiting.values()):
            scores, seconds = row_at(n)
            trial = SimpleNamespace(
                id=str(n), index=n, scores=scores.tolist(), seconds=seconds.tolist(), t=0, best=None,
                last=None, why=None, status=Status.PENDING, checkpoint=None, ruled_t=0,
            )  # fmt: skip
            n += 1
            view.trials[trial.id] = view.waiting[trial.id] = trial
            scheduler.on_trial_add(trial)
        view.search_is_over = n == draws
        for trial_id, decision in [*scheduler.review(view)]:
            trial = view.trials[trial_id]
            scheduler.on_decision(trial, decision)
            trial.why = decision.why
            end(trial)
        if (trial := scheduler.choose_trial_to_run(view)) is not None:
            del view.waiting[trial.id]
            trial.status, trial.why = Status.RUNNING, None
            heappush(running, (now + trial.seconds[trial.t], trial.index, trial))

    for _ in range(n_workers):
        start()
    while running:
        now, _, trial = heappop(running)
        result = trial.last = Result(trial.t + 1, trial.scores[trial.t])
        trial.t = trial.ruled_t = trial.t + 1
        if saves:
            trial.checkpoint = Checkpoint(trial.id, trial.t, "")
        if trial.best is None or result.score > trial.best.score:
            trial.best = result
        if result.score >= target:
            return now
        decision = scheduler.on_result(trial, result)
        scheduler.on_decision(trial, decision)
        if trial.t == len(trial.scores) and not isinstance(decision, Stop):
            end(trial)
        elif isinstance(decision, Pause):
            trial.status, trial.why = Status.PAUSED, decision.why
            view.waiting[trial.id] = trial
        elif isinstance(decision, Stop):
            trial.why = decision.why
            end(trial)
        else:
            heappush(running, (now + trial.seconds[trial.t], trial.index, trial))
            continue
        start()
    return now


def variant(text: str) -> Any:
    """The scheduler that a text such as "auto:doubt=0.2,first_whole=0.15" describes."""
    if text == "random":
        return FIFOScheduler()
    options = dict(one.split("=") for one in text.partition(":")[2].split(",") if one)
    scheduler = AutoScheduler()
    try:
        given = {name: float(value) for name, value in options.items()}
        scheduler.stopping, scheduler.pausing = (replace(one, **given) for one in (STOPPING, PAUSING))
    except TypeError:
        raise SystemExit(f"{text}: choose caution, doubt or first_whole") from None
    return scheduler


def tasks_of(
    data: Path, family: str, n_workers: int
) -> Iterator[tuple[str, Callable[[int, int], Row], float, int]]:
    """Names, functions from (seed, index) to rows, targets and numbers of draws."""
    if family == "misleading":
        for kind in MISLEADING:
            drawn = Random(0)
            target = float(
                np.quantile([misled_rows(kind, drawn)[0].max() for _ in range(4000)], 1 - SETTINGS[4][0])
            )

            yield kind, partial(misled_row_of, kind), target, MISLED_DRAWS
        return
    for task in tables(data, family):
        rows = rows_of(task.table, task.metric, task.mode)
        yield (
            short(task).partition(" ")[2],
            partial(row_of, rows),
            target_of(rows, SETTINGS[n_workers][family == "algoperf"]),
            DRAWS * len(rows),
        )


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("data", type=Path)
    parser.add_argument("--families", nargs="+", default=["lcbench", "algoperf", "taskset", "misleading"])
    parser.add_argument("--workers", type=int, choices=[*SETTINGS], default=4)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--stops", action="store_true", help="trials save nothing, so that none is paused")
    parser.add_argument("--variants", nargs="+", default=["auto", "auto:caution=0.5"])
    args = parser.parse_args()
    for family in args.families:
        rows = resampled(args.seeds)
        typical = np.mean if family == "misleading" else np.median
        table = []
        for name, row_at, target, draws in tasks_of(args.data, family, args.workers):
            samples = []
            for text in ["random", *args.variants]:
                times = [
                    search(
                        variant(text),
                        partial(row_at, seed),
                        target,
                        args.workers,
                        draws,
                        seed,
                        not args.stops,
                    )
                    for seed in range(args.first_seed, args.first_seed + args.seeds)
                ]
                samples.append(typical(np.array(times)[rows], axis=1))
            table.append([samples[0] / one for one in samples[1:]])
            print(f"{family} {name:32}", *(f"{interval(one):>20}" for one in table[-1]), flush=True)
        found = np.array(table)[:, :, 0]
        print(f"{family} {'least':32}", *(f"{one:20.2f}" for one in found.min(axis=0)), flush=True)
        means = [geometric(list(several)) for several in zip(*table, strict=True)]
        print(f"{family} {'geometric mean':32}", *(f"{interval(one):>20}" for one in means), flush=True)


if __name__ == "__main__":
    main()
