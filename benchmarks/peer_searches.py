"""The same searches with Syne Tune's simulator: one line of JSON for each, with the steps of its best value.

    PEER_PYTHON benchmarks/peer_searches.py PROBLEM.npz asha|mobster SEED ...

`search_curves.py` writes PROBLEM.npz and starts this with a Python that has `syne-tune[gpsearchers]==0.13.*`,
since later versions have no MOBSTER. A trial has the curve of the nearest recorded configuration.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from typing import Any
from unittest.mock import MagicMock

import numpy as np


class Curves:
    """A problem as Overtone's benchmark writes it, and the nearest row of a configuration."""

    def __init__(self, path: str) -> None:
        file = np.load(path)
        self.scores, self.elapsed = file["scores"], file["elapsed"]  # [row, t], a higher score is better
        self.budget_s, self.n_workers, self.eta = (
            float(file["budget_s"]),
            int(file["n_workers"]),
            int(file["eta"]),
        )
        self.domains = json.loads(str(file["domains"]))
        self._points = np.array([self._unit(row) for row in json.loads(str(file["configs"]))])

    def _unit(self, config: dict[str, Any]) -> list[float]:
        found = []
        for name, domain in self.domains.items():
            low, high, value = (
                (np.log(one) if domain["is_log"] else one)
                for one in (domain["low"], domain["high"], config[name])
            )
            found.append(float((value - low) / (high - low)))
        return found

    def row(self, config: dict[str, Any]) -> int:
        return int(np.argmin(np.square(self._points - self._unit(config)).sum(1)))


def searched(curves: Curves, method: str, seed: int) -> list[tuple[float, float]]:
    for one in ("huggingface_hub", "fsspec", "s3fs"):  # imported to download tables
        sys.modules.setdefault(one, MagicMock())
    from syne_tune import StoppingCriterion, Tuner
    from syne_tune.backend.simulator_backend.simulator_callback import SimulatorCallback
    from syne_tune.backend.simulator_backend.time_keeper import SimulatedTimeKeeper
    from syne_tune.blackbox_repository.blackbox import Blackbox
    from syne_tune.blackbox_repository.simulated_tabular_backend import UserBlackboxBackend
    from syne_tune.config_space import lograndint, loguniform, randint, uniform
    from syne_tune.constants import ST_TUNER_TIME
    from syne_tune.optimizer.baselines import ASHA, MOBSTER

    logging.disable(logging.CRITICAL)
    np.random.seed(seed)
    # Suggestions take no simulated time, as for the other searches: it would depend on this machine's load.
    SimulatedTimeKeeper.real_time_since_last_recent_exit = lambda self: 0.0
    length = curves.scores.shape[1]
    space: dict[str, Any] = {}
    for name, domain in curves.domains.items():
        kinds = (randint, lograndint) if domain["is_int"] else (uniform, loguniform)
        space[name] = kinds[domain["is_log"]](domain["low"], domain["high"])

    class Recorded(Blackbox):
        def __init__(self) -> None:
            super().__init__(space, {"epoch": randint(1, length)}, ["score", "elapsed"])

        def _objective_function(self, configuration: Any, fidelity: Any = None, seed: Any = None) -> Any:
            row = curves.row(configuration)
            every = np.stack([curves.scores[row], curves.elapsed[row]], axis=1)
            if fidelity is None:
                return every
            return dict(zip(self.objectives_names, every[int(fidelity["epoch"]) - 1], strict=True))

        @property
        def fidelity_values(self) -> Any:
            return np.arange(1, length + 1)

        def hyperparameter_objectives_values(self, predict_curves: bool = False) -> Any:
            raise NotImplementedError

    steps: list[tuple[float, float]] = []

    class Watch(SimulatorCallback):
        def on_trial_result(self, trial: Any, status: Any, result: Any, decision: Any) -> None:
            at, value = result[ST_TUNER_TIME], result["score"]
            if at <= curves.budget_s and (not steps or value > steps[-1][1]):
                steps.append((float(at), float(value)))

        def on_tuning_end(self) -> None:
            pass

    scheduler = {"asha": ASHA, "mobster": MOBSTER}[method](
        space, metric="score", mode="max", resource_attr="epoch", max_t=length, type="stopping",
        grace_period=1, reduction_factor=curves.eta, random_seed=seed, search_options={"debug_log": False},
    )  # fmt: skip
    Tuner(
        trial_backend=UserBlackboxBackend(Recorded(), elapsed_time_attr="elapsed"), scheduler=scheduler,
        stop_criterion=StoppingCriterion(max_wallclock_time=curves.budget_s), n_workers=curves.n_workers,
        sleep_time=0, save_tuner=False, callbacks=[Watch()], print_update_interval=1e9,
        results_update_interval=1e9,
    ).run()  # fmt: skip
    return steps


def main() -> None:
    path, method, *seeds = sys.argv[1:]
    os.environ["SYNETUNE_FOLDER"] = tempfile.mkdtemp()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Syne Tune prints is no answer
    curves = Curves(path)
    for seed in map(int, seeds):
        print(json.dumps({"seed": seed, "steps": searched(curves, method, seed)}), file=answers, flush=True)


if __name__ == "__main__":
    main()
