"""The same searches on Syne Tune's simulator, and with Optuna's pruners: one line of JSON each.

    PEER_PYTHON benchmarks/peer_schedulers.py TASKS.npz syne_tune asha random median
    PEER_PYTHON benchmarks/peer_schedulers.py TASKS.npz optuna halving hyperband median random

`schedulers.py` writes TASKS.npz, with the same curves, targets and orders of configurations as it
uses itself, and starts this with a Python that has syne-tune and optuna. Optuna has no simulator:
its pruners are asked after each report of four workers on a heap of virtual times.
"""

from __future__ import annotations

import heapq
import json
import os
import sys
import tempfile
import time
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np

WORKERS = 4
ETA = 3


def tasks(path):
    """Those in the file: scores [row, t] (higher is better), elapsed [row, t], target, orders [seed, n]."""
    file = np.load(path)
    for i, name in enumerate(file["names"]):
        yield SimpleNamespace(
            name=str(name),
            scores=file[f"{i}_scores"],
            elapsed=file[f"{i}_elapsed"],
            target=float(file[f"{i}_target"]),
            orders=file[f"{i}_orders"],
        )


# --- Optuna ------------------------------------------------------------------------------------


def optuna_search(which, task, order, seed):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    length = task.scores.shape[1]
    pruner = {
        "halving": lambda: optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=ETA),
        "hyperband": lambda: optuna.pruners.HyperbandPruner(
            min_resource=1, max_resource=length, reduction_factor=ETA
        ),
        "median": optuna.pruners.MedianPruner,
        "random": optuna.pruners.NopPruner,
    }[which]()
    study = optuna.create_study(direction="maximize", pruner=pruner)
    heap: list[Any] = []
    left, number = iter(order), 0

    def begin(now):
        nonlocal number
        row = next(left, None)
        if row is not None:
            number += 1
            heapq.heappush(heap, (now + task.elapsed[row, 0], number, 1, row, now, study.ask()))

    for _ in range(WORKERS):
        begin(0.0)
    now = 0.0
    while heap:
        now, n, t, row, began, trial = heapq.heappop(heap)
        score = float(task.scores[row, t - 1])
        if score >= task.target:
            return now, True
        trial.report(score, t)
        if t == length or trial.should_prune():
            study.tell(trial, score, state=optuna.trial.TrialState.COMPLETE if t == length else None)
            begin(now)
        else:
            heapq.heappush(heap, (began + task.elapsed[row, t], n, t + 1, row, began, trial))
    return now, False


# --- Syne Tune ---------------------------------------------------------------------------------


def syne_tune_search(which, task, order, seed):
    import logging

    import pandas as pd

    for one in ("huggingface_hub", "fsspec", "s3fs"):  # imported to download tables, which nothing here does
        sys.modules.setdefault(one, MagicMock())
    from syne_tune import Tuner
    from syne_tune.backend.simulator_backend.simulator_callback import SimulatorCallback
    from syne_tune.blackbox_repository.blackbox_tabular import BlackboxTabular
    from syne_tune.blackbox_repository.simulated_tabular_backend import UserBlackboxBackend
    from syne_tune.config_space import randint
    from syne_tune.constants import ST_TUNER_TIME
    from syne_tune.optimizer.baselines import RandomSearch
    from syne_tune.optimizer.schedulers.asha import AsynchronousSuccessiveHalving
    from syne_tune.optimizer.schedulers.median_stopping_rule import MedianStoppingRule

    logging.disable(logging.CRITICAL)
    np.random.seed(seed)
    n, length = task.scores.shape
    # two of them, since its tables cannot be looked up by one
    space = {"row": randint(0, n - 1), "same": randint(0, n - 1)}
    blackbox = BlackboxTabular(
        hyperparameters=pd.DataFrame({"row": range(n), "same": range(n)}),
        configuration_space=space,
        fidelity_space={"epoch": randint(1, length)},
        objectives_evaluations=np.stack([task.scores, task.elapsed], axis=-1)[:, None],
        objectives_names=["score", "elapsed"],
    )
    backend = UserBlackboxBackend(blackbox, elapsed_time_attr="elapsed")
    # more than there are draws: it asks for the next ones before it sees that it may end
    points = [{"row": int(row), "same": int(row)} for row in [*order, *order[:100]]]
    if which == "asha":
        scheduler = AsynchronousSuccessiveHalving(
            space, "score", do_minimize=False, time_attr="epoch", max_t=length, grace_period=1,
            reduction_factor=ETA, random_seed=seed, searcher_kwargs={"points_to_evaluate": points},
        )  # fmt: skip
    else:
        scheduler = RandomSearch(
            space, ["score"], do_minimize=False, random_seed=seed, points_to_evaluate=points
        )
        if which == "median":
            scheduler = MedianStoppingRule(scheduler, "epoch", metric="score", do_minimize=False)
    found = SimpleNamespace(at=None, last=0.0, n_trials=0)

    class Watch(SimulatorCallback):
        def on_trial_result(self, trial, status, result, decision):
            found.last = max(found.last, result[ST_TUNER_TIME])
            found.n_trials = max(found.n_trials, trial.trial_id + 1)
            if result["score"] >= task.target and found.at is None:
                found.at = result[ST_TUNER_TIME]

        def store_results(self):
            pass

        def on_tuning_end(self):
            pass

    Tuner(
        trial_backend=backend, scheduler=scheduler, n_workers=WORKERS, sleep_time=0, save_tuner=False,
        stop_criterion=lambda status: found.at is not None or found.n_trials >= len(order),
        callbacks=[Watch()], print_update_interval=1e9, results_update_interval=1e9,
    ).run()  # fmt: skip
    return (found.last, False) if found.at is None else (found.at, True)


def main():
    path, tool, *schedulers = sys.argv[1:]
    os.environ["SYNETUNE_FOLDER"] = tempfile.mkdtemp()
    search = {"optuna": optuna_search, "syne_tune": syne_tune_search}[tool]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the tools print is no answer
    for task in tasks(path):
        for seed, order in enumerate(task.orders):
            for which in schedulers:
                began = time.perf_counter()
                at, is_reached = search(which, task, order, seed)
                took = time.perf_counter() - began
                row = {"tool": tool, "scheduler": which, "problem": task.name, "seed": seed, "took_s": took}
                print(
                    json.dumps({**row, "time_s": float(at), "is_reached": is_reached}),
                    file=answers,
                    flush=True,
                )


if __name__ == "__main__":
    main()
