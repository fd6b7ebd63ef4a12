"""Records what other tools' schedulers decide, for tests/data/decisions/.

    python benchmarks/record_decisions.py ray tests/data/decisions      # needs ray[tune]
    python benchmarks/record_decisions.py syne_tune tests/data/decisions
    python benchmarks/record_decisions.py optuna tests/data/decisions

Each is driven without a cluster: reports in, decisions out. Only rules are recorded that one of
Overtone's schedulers declares, too; `tests/unit/schedulers/test_decisions.py` says which is which.
A record is {"peer", "version", "rule", "arguments", "reports": [[trial, t, value or values,
decision], ...]}; the trials and times come from a fixed seed, values are better where they are higher.
"""

from __future__ import annotations

import importlib.metadata
import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace


def reports(seed, n_trials, decide, max_t, n_values=1, running=8):
    """Interleaved reports of trials that go on until they are stopped, with what `decide` says."""
    draw, found = random.Random(seed), []
    waiting = list(range(n_trials))
    live: dict[int, int] = {}
    quality = {trial: draw.random() for trial in waiting}
    while waiting or live:
        while waiting and len(live) < running:
            live[waiting.pop(0)] = 0
        trial = draw.choice(sorted(live))
        live[trial] = t = live[trial] + 1
        values = [round(quality[trial] * (1 - 1 / (t + 1)) + draw.gauss(0, 0.1), 6) for _ in range(n_values)]
        decision = decide(trial, t, values if n_values > 1 else values[0])
        found.append([trial, t, values if n_values > 1 else values[0], decision])
        if decision == "STOP" or t >= max_t:
            del live[trial]
    return found


def ray():
    from ray.tune.schedulers import AsyncHyperBandScheduler, HyperBandForBOHB, MedianStoppingRule

    for seed, arguments in enumerate(
        [
            {"max_t": 20, "grace_period": 1, "reduction_factor": 3},
            {"max_t": 16, "grace_period": 2, "reduction_factor": 2},
            {"max_t": 30, "grace_period": 1, "reduction_factor": 4},
        ]
    ):
        peer = AsyncHyperBandScheduler("t", "v", "max", **arguments)
        trials: dict[int, SimpleNamespace] = {}

        def decide(trial, t, value, peer=peer, trials=trials):
            if trial not in trials:
                trials[trial] = SimpleNamespace(trial_id=str(trial))
                peer.on_trial_add(None, trials[trial])
            return peer.on_trial_result(None, trials[trial], {"t": t, "v": value})

        yield f"ray_asha_{seed}", "asha stop", arguments, reports(seed, 60, decide, arguments["max_t"])

    for seed, arguments in enumerate(
        [
            {"grace_period": 1, "min_samples_required": 3},
            {"grace_period": 4, "min_samples_required": 1},
        ]
    ):
        median, trials = MedianStoppingRule("t", "v", "max", **arguments), {}
        control = SimpleNamespace(get_live_trials=list)

        def judge(trial, t, value, median=median, trials=trials, control=control):
            one = trials.setdefault(trial, Seen(trial))
            return median.on_trial_result(control, one, {"t": t, "v": value})

        yield f"ray_median_{seed}", "median", arguments, reports(seed, 40, judge, 15)

    yield "ray_hyperband", "hyperband", {"max_t": 27, "reduction_factor": 3}, ray_bracket(HyperBandForBOHB)


class Seen:
    """A trial as Ray's schedulers see it."""

    def __init__(self, trial):
        self.trial_id, self.status, self.is_saving = trial, "PENDING", False


def ray_bracket(make):
    """The first bracket, that of 27 trials: who goes on from each rung, in one order of arrival."""
    peer, draw = make("t", "v", "max", max_t=27, reduction_factor=3), random.Random(3)
    trials = {k: Seen(k) for k in range(27)}
    stopped = set()

    def stop_trial(trial):
        trial.status = "TERMINATED"
        stopped.add(trial.trial_id)
        peer.on_trial_remove(control, trial)

    searcher = SimpleNamespace(on_pause=lambda _: None, on_unpause=lambda _: None)
    control = SimpleNamespace(
        search_alg=SimpleNamespace(searcher=searcher),
        stop_trial=stop_trial,
        get_trials=lambda: list(trials.values()),
    )
    for trial in trials.values():
        peer.on_trial_add(control, trial)
    live, found = list(trials), []
    for t in (1, 3, 9):
        draw.shuffle(live)
        batch = []
        for k in live:
            trials[k].status = "RUNNING"
            value = round(draw.random(), 6)
            action = peer.on_trial_result(control, trials[k], {"t": t, "v": value})
            trials[k].status = "PAUSED" if action == "PAUSE" else "RUNNING"
            if action == "STOP":
                stopped.add(k)
                trials[k].status = "TERMINATED"
            batch.append([k, t, value])
        found += [[*one, "STOP" if one[0] in stopped else "CONTINUE"] for one in batch]
        live = [k for k in live if k not in stopped]
    return found


def syne_tune():
    import numpy as np
    from syne_tune.optimizer.schedulers.asha import Bracket
    from syne_tune.optimizer.schedulers.multiobjective.non_dominated_priority import (
        compute_epsilon_net,
        pareto_efficient,
    )

    for seed, arguments in enumerate(
        [
            {"max_t": 20, "grace_period": 1, "reduction_factor": 3},
            {"max_t": 30, "grace_period": 2, "reduction_factor": 2},
        ]
    ):
        peer = Bracket(arguments["grace_period"], arguments["max_t"], arguments["reduction_factor"], 0)

        def decide(trial, t, value, peer=peer, max_t=arguments["max_t"]):
            return "STOP" if t >= max_t else peer.on_result(trial, t, {"loss": -value})

        yield f"syne_tune_asha_{seed}", "moasha", arguments, reports(seed, 60, decide, arguments["max_t"])

    rungs: dict[int, list[list[float]]] = {1: [], 3: [], 9: []}

    def sort(trial, t, values):
        if t not in rungs:
            return "STOP" if t >= 20 else "CONTINUE"
        rungs[t].append([-value for value in values])
        # by its parts: in 0.16.0 what joins them takes the ranks in a front for the order of the front
        points, before = np.array(rungs[t]), 0
        left = np.arange(len(points))
        while not (is_first := pareto_efficient(points[left]))[-1]:  # until the newest is
            before += is_first.sum()
            left = left[~is_first]
        before += compute_epsilon_net(points[left[is_first]], dim=0)[-1]
        return "CONTINUE" if before <= len(points) / 3 else "STOP"

    arguments = {"max_t": 20, "grace_period": 1, "reduction_factor": 3}
    yield "syne_tune_moasha", "moasha", arguments, reports(9, 60, sort, 20, n_values=2)


def optuna():
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for seed, eta in enumerate((2, 3)):
        pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=eta)
        study, draw = optuna.create_study(direction="maximize", pruner=pruner), random.Random(seed)
        found = []
        for k in range(60):
            trial, value = study.ask(), round(draw.random(), 6)
            trial.report(value, 1)
            found.append([k, 1, value, "STOP" if trial.should_prune() else "CONTINUE"])
        yield f"optuna_halving_{seed}", "among the best floor(n / eta)", {"reduction_factor": eta}, found


if __name__ == "__main__":
    peer, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, rule, arguments, found in globals()[peer]():
        version = importlib.metadata.version(peer.replace("_", "-"))
        head = {"peer": peer, "version": version, "rule": rule, "arguments": arguments}
        lines = ",\n".join(json.dumps(one) for one in found)
        text = json.dumps(head)[:-1] + ', "reports": [\n' + lines + "\n]}\n"
        (folder / f"{name}.json").write_text(text, "utf-8")
        print(name, len(found), sum(one[3] == "STOP" for one in found))
