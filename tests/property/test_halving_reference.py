"""ASHA (promote), SHA and HyperBand against independent simulations of their papers, on identical draws.

The references below share nothing with `overtone`: they read the algorithms of Li et al. 2020 (ASHA,
Algorithms 1 and 2) and Li et al. 2018 (HyperBand, Algorithm 1) literally.
"""

import heapq
from math import ceil, floor, log
from random import Random

import pytest

from overtone import tune
from overtone.core.messages import Started
from overtone.core.protocols import Observer
from overtone.tune.schedulers import ASHAScheduler, HyperBandScheduler, SuccessiveHalving

ETA, R = 3, 27

SEEDS = [pytest.param(seed, marks=[pytest.mark.full] * (seed >= 20)) for seed in range(100)]
"""CI has a fifth of them."""


class Draws:
    """A curve: random scores of each (trial, t), and the seconds of an iteration of each trial."""

    def __init__(self, seed, n):
        random = Random(seed)
        self.pace_s = [10 ** random.uniform(0, 1) for _ in range(n)]
        self.scores = [[random.random() for _ in range(R)] for _ in range(n)]

    def __call__(self, config, t):
        i = config["i"]
        return ({"score": self.scores[i][t - 1]}, self.pace_s[i]) if t <= R else None


class Starts(Observer):
    """Collects when each trial was started or continued."""

    def __init__(self):
        self.starts = []

    def on_record(self, record):
        if isinstance(record.event, Started):
            self.starts.append((record.event.time, record.event.trial_id))


def search(draws, scheduler, n, workers, folder):
    starts = Starts()
    found = tune.run(
        draws, config={"i": tune.grid_search([*range(n)])}, metric="score", mode="max", scheduler=scheduler,
        engine=tune.Simulated(workers=workers), storage_path=folder, verbose=0, seed=1, callbacks=[starts],
    )  # fmt: skip
    index = {trial.trial_id: trial.config["i"] for trial in found.trials}
    last = {trial.config["i"]: trial.last_result["training_iteration"] for trial in found.trials}
    return last, [(round(time, 6), index[trial_id]) for time, trial_id in starts.starts]


def asha(draws, n, workers):
    """Algorithm 2 with `workers` workers and n configurations; final t of each, and the jobs in order."""
    rungs = [{} for t in range(1 + floor(log(R, ETA) + 1e-9))]
    promoted = [set() for _ in rungs]
    jobs, running, last, fresh, idle, now = [], [], {}, 0, workers, 0.0

    def get_job():
        for k in reversed(range(len(rungs) - 1)):
            best = sorted(rungs[k], key=rungs[k].get, reverse=True)[: len(rungs[k]) // ETA]
            for i in best:
                if i not in promoted[k]:
                    promoted[k].add(i)
                    return i, k + 1
        return None

    while True:
        while idle and ((job := get_job()) is not None or fresh < n):
            if job is None:
                job, fresh = (fresh, 0), fresh + 1
            i, k = job
            t = ETA**k
            before = ETA ** (k - 1) if k else 0
            jobs.append((round(now, 6), i))
            heapq.heappush(running, (now + (t - before) * draws.pace_s[i], i, k))
            idle -= 1
        if not running:
            return last, jobs
        now, i, k = heapq.heappop(running)
        idle += 1
        last[i] = ETA**k
        rungs[k][i] = draws.scores[i][ETA**k - 1]


def halve(draws, configs, lengths, last):
    """Successive halving of `configs` over rungs of these lengths."""
    for k, t in enumerate(lengths):
        last.update(dict.fromkeys(configs, t))
        if k + 1 < len(lengths):
            ranked = sorted(configs, key=lambda i: draws.scores[i][t - 1], reverse=True)
            configs = ranked[: max(1, len(configs) // ETA)]


def hyperband(draws, n, least=1):
    """HyperBand's rounds until n configurations are drawn, `least` being the minimum resource; final t of each."""
    s_max, last, drawn = floor(log(R / least, ETA) + 1e-9), {}, 0
    while drawn < n:
        for s in range(s_max, -1, -1):
            size = ceil((s_max + 1) * ETA**s / (s + 1))
            halve(draws, range(drawn, drawn + size), [R // ETA ** (s - i) for i in range(s + 1)], last)
            drawn += size
    return last


@pytest.mark.parametrize("seed", SEEDS)
def test_asha_starts_what_algorithm_2_starts(seed, tmp_path):
    n, workers = 40, 1 + seed % 6
    draws = Draws(seed, n)
    scheduler = ASHAScheduler(max_t=R, grace_period=1, reduction_factor=ETA, rule="promote")
    assert search(draws, scheduler, n, workers, tmp_path) == asha(draws, n, workers)


@pytest.mark.parametrize("seed", SEEDS)
def test_sha_and_hyperband_end_trials_where_the_papers_do(seed, tmp_path):
    draws, workers = Draws(seed, 108), 1 + seed % 6
    expected = {}
    for first in range(0, 54, 27):
        halve(draws, range(first, first + 27), [1, 3, 9, 27], expected)
    scheduler = SuccessiveHalving(max_t=R, grace_period=1, reduction_factor=ETA)
    assert search(draws, scheduler, 54, workers, tmp_path / "sha")[0] == expected
    n = sum(ceil(4 * ETA**s / (s + 1)) for s in range(4))
    scheduler = HyperBandScheduler(max_t=R, reduction_factor=ETA)
    assert search(draws, scheduler, n, workers, tmp_path / "hyperband")[0] == hyperband(draws, n)


@pytest.mark.parametrize("least", [2, 3, 4, 9, 10, 27])
def test_hyperband_with_a_minimum_resource_is_the_paper_in_units_of_it(least, tmp_path):
    s_max = floor(log(R / least, ETA) + 1e-9)
    n = 2 * sum(ceil((s_max + 1) * ETA**s / (s + 1)) for s in range(s_max + 1))
    draws = Draws(least, n)
    scheduler = HyperBandScheduler(max_t=R, reduction_factor=ETA, grace_period=least)
    assert search(draws, scheduler, n, 3, tmp_path)[0] == hyperband(draws, n, least)
