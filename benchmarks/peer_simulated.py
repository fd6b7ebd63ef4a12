"""How many results a second Syne Tune's simulator makes of the curves of simulated.py.

    PEER_PYTHON benchmarks/peer_simulated.py WORKERS TRIALS GRACE_PERIOD

`simulated.py --peer PEER_PYTHON` starts it, with a Python that has syne-tune. It prints results a second
of CPU, as JSON: over `Tuner.run` alone, with nothing stored or printed, with asynchronous successive halving.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import tempfile
import time
from unittest.mock import MagicMock

import numpy as np
import pandas as pd

for _name in ("huggingface_hub", "fsspec", "s3fs"):  # imported to download tables, which nothing here does
    sys.modules.setdefault(_name, MagicMock())

from syne_tune import Tuner  # noqa: E402
from syne_tune.backend.simulator_backend.simulator_callback import SimulatorCallback  # noqa: E402
from syne_tune.blackbox_repository.blackbox_tabular import BlackboxTabular  # noqa: E402
from syne_tune.blackbox_repository.simulated_tabular_backend import UserBlackboxBackend  # noqa: E402
from syne_tune.config_space import randint  # noqa: E402
from syne_tune.optimizer.schedulers.asha import AsynchronousSuccessiveHalving  # noqa: E402

LONGEST, CONFIGS = 50, 2_000


class Count(SimulatorCallback):
    """Counts results and trials, and stores nothing."""

    n_results = n_trials = 0

    def on_trial_result(self, trial, status, result, decision):
        self.n_results += 1
        self.n_trials = max(self.n_trials, trial.trial_id + 1)

    def store_results(self):
        pass

    def on_tuning_end(self):
        pass


def main():
    workers, trials, grace = map(int, sys.argv[1:4])
    logging.disable(logging.CRITICAL)
    os.environ["SYNETUNE_FOLDER"] = tempfile.mkdtemp()
    rng = np.random.default_rng(0)
    losses = rng.random(CONFIGS)[:, None] + 1 / np.arange(1, LONGEST + 1)
    elapsed = np.cumsum(np.repeat((1 + 9 * rng.random(CONFIGS))[:, None], LONGEST, 1), 1)
    # two of them, since its tables cannot be looked up by one
    space = {"row": randint(0, CONFIGS - 1), "same": randint(0, CONFIGS - 1)}
    blackbox = BlackboxTabular(
        hyperparameters=pd.DataFrame({"row": range(CONFIGS), "same": range(CONFIGS)}),
        configuration_space=space,
        fidelity_space={"epoch": randint(1, LONGEST)},
        objectives_evaluations=np.stack([losses, elapsed], axis=-1)[:, None],
        objectives_names=["loss", "elapsed"],
    )
    # more than there are draws: it asks for the next ones before it sees that it may end
    rows = rng.integers(0, CONFIGS, 4 * trials + 20 * workers)
    scheduler = AsynchronousSuccessiveHalving(
        space, "loss", do_minimize=True, time_attr="epoch", max_t=LONGEST, grace_period=grace,
        reduction_factor=3, random_seed=1,
        searcher_kwargs={"points_to_evaluate": [{"row": int(row), "same": int(row)} for row in rows]},
    )  # fmt: skip
    count = Count()
    tuner = Tuner(
        trial_backend=UserBlackboxBackend(blackbox, elapsed_time_attr="elapsed"), scheduler=scheduler,
        n_workers=workers, sleep_time=0, save_tuner=False,
        stop_criterion=lambda status: count.n_trials >= trials, callbacks=[count],
        print_update_interval=1e9, results_update_interval=1e9,
    )  # fmt: skip
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        began = time.process_time()
        tuner.run()
        took = time.process_time() - began
    print(json.dumps({"value": count.n_results / took, "results": count.n_results}))


if __name__ == "__main__":
    main()
