"""How much sooner a search finds one of the best 1 % of configurations than random search does.

    python benchmarks/auto.py DATA [--seeds 20] [--tasks lcbench algoperf taskset]
        [--schedulers auto asha median]

`DATA` is the folder with `curves/`. Each search draws configurations, with replacement, on 4
workers; the time is when a report first is as good as the best of the worst of the best 1 %.
A figure is the median time of random search over that of the scheduler; over tasks, their
geometric mean.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
from collections import deque
from pathlib import Path
from random import Random
from statistics import median

import numpy as np

from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.named import create_scheduler

WORKERS = 4


def tasks(data: Path, kinds: list[str]):
    """(family, name, scores [n, t] with NaN where there are none, seconds of each step, first rung)."""
    curves = data / "curves"
    if "lcbench" in kinds:
        file = np.load(curves / "lcbench.npz")
        for k, name in enumerate(file["task_ids"]):
            seconds = np.diff(file["elapsed_s"][k], prepend=0)
            yield "lcbench", str(name), file["val_acc_x100"][k] / 100, seconds, 1
    if "taskset" in kinds:
        file = np.load(curves / "taskset.npz")
        for name in file["task_names"]:
            scores = -file[f"{name}__valid"].astype(float)[:, 1:]
            yield "taskset", str(name)[-24:], scores, np.ones(scores.shape), 1
    if "algoperf" in kinds:
        for name, facts in json.loads((curves / "algoperf" / "index.json").read_text()).items():
            file = np.load(curves / "algoperf" / f"{name}.npz")
            scores = file["metric"].astype(float) * (1 if facts["mode"] == "max" else -1)
            lengths = file["length"]
            for i, length in enumerate(lengths):
                scores[i, length:] = np.inf  # marks the end; NaN before it is a diverged value
            yield "algoperf", name, scores, np.diff(file["elapsed_s"], prepend=0), 16


def search(scheduler, scores, seconds, target: float, seed: int) -> float:
    """The virtual time at which a report first reached the target, or of the end of 4 n trials."""
    n, length = scores.shape
    order = Random(seed).choices(range(n), k=4 * n)
    goal = Goal("score", "max", is_needed=scheduler.needs_metric)
    controller = Controller(scheduler, goal, limits=Limits(total=4 * n, lookahead=8), seed=seed)
    due: list[tuple[float, int, str, int, int]] = []  # time, order, trial, its row, t
    rows: dict[str, int] = {}
    now, pushed = 0.0, 0
    events: deque[m.Event] = deque([m.CapacityChanged(0.0, {"node": {"cpu": float(WORKERS)}})])
    while events or due:
        if not events:
            now, _, trial, row, t = heapq.heappop(due)
            if t > length or scores[row, t - 1] == math.inf:
                events.append(m.Ended(now, trial, 0, "returned"))
            else:
                score = float(scores[row, t - 1])
                if score >= target:
                    return now
                events.append(m.Reported(now, trial, 0, t, {"score": score, "training_iteration": t}))
        event = events.popleft()
        commands = controller.handle(event).commands
        is_halted = any(type(one) is m.Halt for one in commands)
        for command in commands:
            if type(command) is m.Suggest:
                events.append(m.Suggested(now, command.index, {"i": order[command.index]}))
            elif type(command) is m.Halt:
                events.append(m.Ended(now, command.trial_id, 0, "halted"))
            elif type(command) is m.Start:
                rows[command.trial_id] = command.config["i"]
                events.append(m.Started(now, command.trial_id, 0, "node", 1))
        begins = type(event) is m.Started or (type(event) is m.Reported and not is_halted)
        if begins:
            row, t = rows[event.trial_id], event.t + 1 if type(event) is m.Reported else 1
            pushed += 1
            step = float(seconds[row, t - 1]) if t <= length else 0.0
            heapq.heappush(due, (now + max(0.0, step), pushed, event.trial_id, row, t))
    return now


def made(name: str, first: int, length: int):
    """The scheduler of this name, as the comparison runs it."""
    if name == "asha":
        return create_scheduler(name, grace_period=first, reduction_factor=3, max_t=length)
    if name == "median":
        return create_scheduler(name, time_attr="training_iteration", grace_period=first)
    return create_scheduler(name)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tasks", nargs="+", default=["lcbench", "algoperf", "taskset"])
    parser.add_argument("--schedulers", nargs="+", default=["asha", "median", "auto"])
    args = parser.parse_args()
    families: dict[str, dict[str, list[float]]] = {}
    print(f"{'task':36}" + "".join(f"{name:>10}" for name in args.schedulers))
    for family, name, scores, seconds, first in tasks(args.data, args.tasks):
        finite = np.where(np.isfinite(scores), scores, -np.inf)
        bests = np.sort(finite.max(1))
        target = float(bests[-max(1, round(len(bests) / 100))])

        def time(which, scores=scores, seconds=seconds, first=first, target=target):
            return median(
                search(made(which, first, scores.shape[1]), scores, seconds, target, seed)
                for seed in range(args.seeds)
            )

        base = time("fifo")
        found = {which: base / time(which) for which in args.schedulers}
        print(f"{family + ' ' + name:36}" + "".join(f"{value:10.2f}" for value in found.values()), flush=True)
        for which, value in found.items():
            families.setdefault(family, {}).setdefault(which, []).append(value)
    for family, by in families.items():
        means = [math.exp(sum(map(math.log, by[which])) / len(by[which])) for which in args.schedulers]
        print(f"{'= ' + family:36}" + "".join(f"{value:10.2f}" for value in means))


if __name__ == "__main__":
    main()
