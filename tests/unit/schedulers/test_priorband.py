"""PriorBand against the formulas of its paper, written down again here without any of its code."""

import math
from collections import Counter
from random import Random
from statistics import NormalDist, fmean

import pytest

from overtone import tune
from overtone.engines.simulated import Simulated
from overtone.schedulers.hyperband import HyperBandScheduler
from overtone.schedulers.priorband import PriorBand
from overtone.testing.manual_controller import ByHand

ETA, R = 3, 27
SPACE = {
    "x": tune.normal_prior(tune.uniform(0, 10), 2, 1),
    "lr": tune.normal_prior(tune.loguniform(1e-4, 1), 0.01),
    "y": tune.uniform(-1, 1),
    "kind": tune.choice(["a", "b", "c"]),
}
PRIORS = {"x": NormalDist(0.2, 0.1), "lr": NormalDist(0.5, 0.125)}


def axis(config):
    """Where a config lies on the axes of the domains; the option of a choice by its number."""
    return {
        "x": config["x"] / 10, "lr": math.log10(config["lr"]) / 4 + 1, "y": (config["y"] + 1) / 2,
        "kind": "abc".index(config["kind"]),
    }  # fmt: skip


def cut(normal, u):
    """The density of a normal distribution that is cut to [0, 1]."""
    return normal.pdf(u) / (normal.cdf(1) - normal.cdf(0))


class Reference:
    """The paper's probabilities: equations for p_U, p_pi and p_incumbent, from everything that was observed."""

    def __init__(self):
        s_max = round(math.log(R, ETA))
        sizes = [math.ceil((s_max + 1) * ETA**s / (s + 1)) for s in range(s_max, -1, -1)]
        self.rung_of = [r for r, n in enumerate(sizes) for _ in range(n)]
        rungs = [ETA**k for k in range(s_max + 1)]
        before = [0, *rungs]
        self.first_cost = sum(
            sizes[0] // ETA**k * (t - t0) for k, (t, t0) in enumerate(zip(rungs, before, strict=False))
        )
        self.observed = {t: [] for t in rungs}  # by budget: (score, axis)

    def weights(self, n_before):
        r = self.rung_of[n_before % len(self.rung_of)]
        p_u = 1 / (1 + ETA**r)
        p_pi = 1 - p_u
        steps = {t: t - t // ETA for t in self.observed}
        spent = sum(steps[t] * len(seen) for t, seen in self.observed.items())
        if spent < self.first_cost or not self.observed[R]:
            return p_u, p_pi, 0.0
        highest = max(t for t, seen in self.observed.items() if len(seen) >= ETA)
        seen = sorted(self.observed[highest], key=lambda one: -one[0])
        top = seen[: max(len(seen) // ETA, ETA)]
        incumbent = max((score, t, point) for t, one in self.observed.items() for score, point in keyed(one))[
            2
        ]
        s_pi = s_inc = 0.0
        for rank, (_, point) in enumerate(top, 1):
            w = len(top) + 1 - rank
            pi = inc = 1.0
            for name, u in point.items():
                if name in PRIORS:
                    pi *= 0.2 + 0.8 * cut(PRIORS[name], u)
                if name == "kind":
                    inc *= (2 if u == dict(incumbent)[name] else 1) / 4 * 3
                else:
                    inc *= cut(NormalDist(dict(incumbent)[name], 0.25), u)
            s_pi += w * pi
            s_inc += w * inc
        return p_u, p_pi * s_pi / (s_pi + s_inc), p_pi * s_inc / (s_pi + s_inc)


def keyed(observed):
    return [(score, tuple(point.items())) for score, point in observed]


class Watched(PriorBand):
    """Notes the weights of each suggestion, and what was observed before it."""

    def on_start(self, start, seed=None):
        super().on_start(start, seed)
        self.reference, self.compared = Reference(), []

    def suggest(self, index):
        rung, n = self._rung(self._n_asked), self._n_asked
        self.compared.append((self.weights(rung), self.reference.weights(n)))
        return super().suggest(index)

    def on_result(self, trial, result):
        if result.t in self.reference.observed and result.t == self._of[trial.id].milestone:
            self.reference.observed[result.t].append((result.score, axis(trial.config)))
        return super().on_result(trial, result)


def curve(config, t):
    here = axis(config)
    far = (
        (here["x"] - 0.7) ** 2 + (here["lr"] - 0.5) ** 2 + (here["y"] - 0.2) ** 2 + 0.3 * (here["kind"] != 1)
    )
    return ({"loss": far + 1 / t}, 1.0 + here["x"]) if t <= R else None


def searched(scheduler, folder, n, space=None, workers=3, seed=1):
    return tune.run(
        curve, config=space or SPACE, scheduler=scheduler, num_samples=n, metric="loss", mode="min",
        engine=Simulated(workers=workers), storage_path=str(folder), verbose=0, seed=seed,
    )  # fmt: skip


@pytest.mark.parametrize("workers", [1, 4])
def test_the_probabilities_are_those_of_the_paper_all_along_a_search(tmp_path, workers):
    scheduler = Watched(max_t=R, reduction_factor=ETA)
    searched(scheduler, tmp_path, 130, workers=workers)
    assert len(scheduler.compared) == 130
    for mine, theirs in scheduler.compared:
        assert mine == pytest.approx(theirs)
        assert sum(mine) == pytest.approx(1)
    assert scheduler.compared[0][0] == (0.5, 0.5, 0.0)
    assert any(mine[2] > 0 for mine, _ in scheduler.compared)


def test_the_share_at_random_falls_geometrically_with_the_rung():
    scheduler = PriorBand(max_t=81)
    ByHand(scheduler)
    assert [scheduler.weights(rung)[0] for rung in range(5)] == [1 / (1 + 3**rung) for rung in range(5)]
    assert [scheduler._rung(n) for n in (0, 80, 81, 114, 115, 129, 130, 142, 143, 224)] == [
        0, 0, 1, 1, 2, 2, 3, 4, 0, 1,
    ]  # fmt: skip


def drawn_by(weights, n=2000):
    """The axes of configurations that are all drawn in one way, around a fixed incumbent."""

    class Fixed(PriorBand):
        def weights(self, rung):
            return weights

    scheduler = Fixed(max_t=R)
    ByHand(scheduler)
    scheduler.on_start(SPACE, 1)
    scheduler._best = 1.0, R, "one"
    scheduler._points["one"] = [
        {"x": 0.5, "lr": 0.5, "y": 0.5, "kind": 0.5}[one.path] for one in scheduler._cube.dimensions
    ]
    return [axis(scheduler.suggest(index)) for index in range(n)][1:]


def test_random_draws_know_no_prior():
    points = drawn_by((1, 0, 0))
    for name in ("x", "lr", "y"):
        ranked = sorted(point[name] for point in points)
        assert max(abs(u - i / len(ranked)) for i, u in enumerate(ranked)) < 0.04  # Kolmogorov-Smirnov
    assert min(Counter(point["kind"] for point in points).values()) > len(points) / 3.4


def test_draws_of_the_prior_are_the_prior():
    points = drawn_by((0, 1, 0))
    for name, normal in PRIORS.items():
        ranked = sorted(point[name] for point in points)
        low, inside = normal.cdf(0), normal.cdf(1) - normal.cdf(0)
        expected = [0.2 * u + 0.8 * (normal.cdf(u) - low) / inside for u in ranked]
        assert max(abs(u - i / len(ranked)) for i, u in enumerate(expected)) < 0.04


def test_half_of_the_incumbents_values_are_perturbed_by_a_quarter_of_the_axis():
    points = drawn_by((0, 0, 1))
    for name in ("x", "lr", "y"):
        moved = [point[name] - 0.5 for point in points if abs(point[name] - 0.5) > 1e-9]
        assert len(moved) / len(points) == pytest.approx(0.5, abs=0.04)
        assert fmean(moved) == pytest.approx(0, abs=0.03)
        inside = [one for one in moved if abs(one) < 0.25]
        assert len(inside) / len(moved) == pytest.approx(0.683, abs=0.04)  # within one standard deviation
        assert max(map(abs, moved)) <= 0.5 + 1e-9  # and cut to the axis
    kept = Counter(point["kind"] for point in points)[1] / len(points)
    assert kept == pytest.approx(0.5 + 0.5 / 2, abs=0.04)  # 2 : 1 : 1 where it is perturbed


def test_the_first_trial_is_the_mode_of_the_prior(tmp_path):
    first = searched(PriorBand(max_t=R), tmp_path, 5).trials[0].config
    assert (first["x"], first["lr"]) == (pytest.approx(2), pytest.approx(0.01))
    without = {"y": tune.uniform(-1, 1), "x": 5, "lr": 0.1, "kind": "a"}
    configs = [
        searched(PriorBand(max_t=R), tmp_path, 1, without, seed=seed).trials[0].config for seed in (1, 2)
    ]
    assert configs[0] != configs[1]


def test_budgets_are_those_of_hyperband(tmp_path):
    mine = searched(PriorBand(max_t=R), tmp_path / "mine", 49)
    theirs = searched(HyperBandScheduler(max_t=R), tmp_path / "theirs", 49)
    lengths = [
        sorted(trial.last_result["training_iteration"] for trial in one.trials) for one in (mine, theirs)
    ]
    assert lengths[0] == lengths[1]
    assert {trial.why.rule for trial in mine.trials} == {"priorband", "max_t"}


def test_a_good_prior_helps_and_a_bad_one_is_recovered_from(tmp_path):
    """The claim of the paper, where the optimum is at x = 0.7, lr = 0.5, y = 0.2 of the axes."""

    def best(scheduler, x, seed, n):
        space = {**SPACE, "x": tune.normal_prior(tune.uniform(0, 10), x, 1), "kind": "b"}
        space = (
            space
            if scheduler is PriorBand
            else {**space, "x": tune.uniform(0, 10), "lr": tune.loguniform(1e-4, 1)}
        )
        found = searched(scheduler(max_t=R), tmp_path / str(Random().random()), n, space, seed=seed)
        return fmean([min(trial.last_result["loss"] for trial in found.trials) - 1 / R])

    seeds = range(3)
    plain = fmean(best(HyperBandScheduler, 7, seed, 60) for seed in seeds)
    good = fmean(best(PriorBand, 7, seed, 60) for seed in seeds)
    bad = fmean(best(PriorBand, 0.5, seed, 120) for seed in seeds)
    assert good < 0.5 * plain
    assert bad < plain


def test_a_resume_asks_again(tmp_path):
    options = {
        "config": SPACE, "metric": "loss", "mode": "min", "engine": Simulated(workers=3), "verbose": 0, "seed": 1,
        "storage_path": str(tmp_path),
    }  # fmt: skip
    whole = tune.run(curve, scheduler=PriorBand(max_t=R), num_samples=70, name="whole", **options)
    tune.run(curve, scheduler=PriorBand(max_t=R), num_samples=70, name="part", time_budget_s=100, **options)
    again = tune.run(curve, scheduler=PriorBand(max_t=R), num_samples=70, name="part", resume=True, **options)
    assert len(again.trials) <= len(whole.trials)
    n = len(again.trials)
    assert [trial.config for trial in again.trials] == [trial.config for trial in whole.trials[:n]]


def test_what_makes_no_sense():
    with pytest.raises(ValueError, match="need 0 < grace_period <= max_t"):
        PriorBand(max_t=1, grace_period=2)
    scheduler = PriorBand()
    ByHand(scheduler)
    with pytest.raises(RuntimeError, match="omit search_alg"):
        scheduler.suggest(0)
