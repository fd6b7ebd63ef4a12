"""Population based training: who clones whom, when, and with which hyperparameters."""

import math
from pathlib import Path
from random import Random

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.core.retention import Retention
from overtone.core.trial import Status
from overtone.engines.inline import Inline
from overtone.errors import OvertoneError
from overtone.journal.reader import Reader
from overtone.schedulers.pbt import PopulationBasedTraining
from overtone.testing.manual_controller import ByHand
from overtone.testing.trial_life import Perils
from overtone.testing.world import World


def pbt(**more):
    given = {"perturbation_interval": 2, "hyperparam_mutations": {"lr": [1, 2, 3]}, **more}
    return PopulationBasedTraining("training_iteration", "score", "max", **given)


def population(n, cpus=None, configs=None, **more):
    hand = ByHand(pbt(**more), cpus=cpus or n, goal=Goal("score", "max", is_needed=True))
    return hand, [hand.run(configs[i] if configs else {"lr": 2, "index": i}) for i in range(n)]


# --- who clones whom ----------------------------------------------------------------------


def test_the_worst_goes_on_from_the_best():
    hand, trials = population(4, resample_probability=0)
    for trial, score in zip(trials[1:], (2.0, 3.0, 4.0), strict=True):
        hand.report(trial, 2, score, saves=True)
    assert type(hand.report(trials[0], 2, 1.0, saves=True)[0]) is m.Halt
    (ruled, _) = hand.choices
    assert (ruled.what, ruled.source, ruled.config["index"]) == ("restart", trials[3], 3)
    assert ruled.config["lr"] in (1, 3)
    assert (ruled.why.rule, ruled.why.rank, ruled.why.of, ruled.why.cutoff) == ("pbt", 4, 4, 4.0)
    assert ruled.why.against == (trials[3],)
    assert ruled.why.note == f"lr 2 -> {ruled.config['lr']}, index 0 -> 3"
    start = hand.ended(trials[0], "halted")[0]
    assert (start.checkpoint.uri, start.until_t) == (f"{trials[3]}/2", 4)
    assert hand.controller._scheduler.describe() == "PopulationBasedTraining: 2 checkpoints, 1 perturbs"


def test_nobody_is_compared_before_its_interval_or_in_the_burn_in():
    hand, (one, other) = population(2, burn_in_period=5, quantile_fraction=0.5)
    assert hand.report(one, 1, 1.0) == hand.report(one, 4, 1.0) == []
    assert hand.controller._scheduler.next_decision(hand.trial(one)) == 5
    hand.report(other, 5, 9.0, saves=True)
    assert type(hand.report(one, 5, 1.0)[0]) is m.Halt


def test_the_best_are_asked_to_save():
    hand, (one, other) = population(2, quantile_fraction=0.5)
    hand.report(one, 2, 1.0)
    assert hand.report(other, 2, 2.0) == [m.Proceed(other, 0, 4, save=True)]


def test_a_source_without_a_checkpoint_is_passed_over():
    hand, (one, other) = population(2, quantile_fraction=0.5)
    hand.report(other, 2, 9.0)
    assert hand.report(one, 2, 1.0, saves=True) == [m.Proceed(one, 0, 4)]
    assert hand.choices == ()


def test_a_nan_is_the_worst_and_never_a_source():
    hand, (one, other) = population(2, quantile_fraction=0.5)
    hand.report(one, 2, math.nan, saves=True)
    assert type(hand.report(other, 2, math.nan, saves=True)[0]) is m.Proceed
    hand.report(one, 4, -1e9, saves=True)
    assert type(hand.report(other, 4, math.nan, saves=True)[0]) is m.Halt


def test_a_trial_that_ended_is_no_member():
    hand, (one, other) = population(2, quantile_fraction=0.5)
    hand.report(other, 2, 9.0, saves=True)
    hand.ended(other)
    assert type(hand.report(one, 2, 1.0)[0]) is m.Proceed


def test_the_source_s_checkpoint_stays_until_the_clone_has_started():
    hand = ByHand(
        pbt(quantile_fraction=0.5), cpus=2, goal=Goal("score", "max", is_needed=True), retention=Retention(1)
    )
    one, other = hand.run({"lr": 2}), hand.run({"lr": 2})
    hand.report(other, 2, 9.0, saves=True)
    hand.report(one, 2, 1.0)
    assert m.Discard(f"{other}/2") not in hand.report(other, 3, 9.0, saves=True)
    assert hand.ended(one, "halted")[0].checkpoint.uri == f"{other}/2"


def test_a_clone_counts_with_its_source_s_score():
    hand, trials = population(4, configs=[{"lr": 2}] * 4)
    for trial, score in zip(trials[1:], (2.0, 3.0, 4.0), strict=True):
        hand.report(trial, 2, score, saves=True)
    hand.report(trials[0], 2, 1.0)
    hand.ended(trials[0], "halted")
    assert type(hand.report(trials[1], 4, 3.5, saves=True)[0]) is m.Proceed
    assert type(hand.report(trials[2], 4, 3.2, saves=True)[0]) is m.Halt


def test_others_get_their_turn():
    hand = ByHand(
        pbt(quantile_fraction=0),
        cpus=1,
        goal=Goal("score", "max", is_needed=True),
        limits={"lookahead": 3, "total": 3},
    )
    while hand.asked:
        hand.suggest({"lr": 2})
    one, other = list(hand.controller.trials)[:2]
    hand.started(one)
    assert hand.report(one, 2, 1.0, saves=True) == [m.Halt(one, 0, save=True, park=True)]
    starts = [order for order in hand.ended(one, "halted") if isinstance(order, m.Start)]
    assert [start.trial_id for start in starts] == [other]


def test_only_the_checkpoint_is_cloned():
    hand, (one, other) = population(2, quantile_fraction=0.5, clone_config=False, custom_explore_fn=dict,
                                    hyperparam_mutations=None)  # fmt: skip
    hand.report(other, 2, 9.0, saves=True)
    hand.report(one, 2, 1.0)
    assert (hand.choices[0].source, hand.choices[0].config) == (other, {"lr": 2, "index": 0})


def test_a_result_without_the_clock():
    scheduler = pbt()
    scheduler.time_attr = "steps"
    hand = ByHand(scheduler, cpus=2, goal=Goal("score", "max", "steps", is_needed=True))
    one = hand.run({"lr": 2})
    hand.report(one, 1, steps=1)
    with pytest.raises(OvertoneError, match="no time_attr='steps'"):
        hand.report(one, 2)


@pytest.mark.parametrize("wrong", [
    {"hyperparam_mutations": None}, {"perturbation_interval": 0}, {"quantile_fraction": 0.6},
    {"hyperparam_mutations": {"lr": []}}, {"hyperparam_mutations": {"a": {"lr": []}}},
])  # fmt: skip
def test_what_makes_no_sense(wrong):
    with pytest.raises(ValueError, match="perturbation_interval=0|from 0 to 0.5|nothing to explore|is empty"):
        pbt(**wrong)


def test_a_mutation_that_is_none():
    with pytest.raises(TypeError, match=r"hyperparam_mutations\['lr'\]=0.1: give a domain"):
        pbt(hyperparam_mutations={"lr": 0.1})


# --- the paper's toy ----------------------------------------------------------------------


class Toy(tune.Trainable):
    """Section 4.1.1 of the paper: Q = 1.2 - theta_0^2 - theta_1^2 is sought by ascending
    a surrogate of it, 1.2 - h_0 theta_0^2 - h_1 theta_1^2."""

    def setup(self, config):
        self.h, self.theta = config["h"], list(config["theta"])

    def step(self):
        self.theta = [x - 0.01 * 2 * h * x for x, h in zip(self.theta, self.h, strict=True)]
        return {"q": 1.2 - sum(x * x for x in self.theta)}

    def save_checkpoint(self, folder):
        return {"theta": self.theta}

    def load_checkpoint(self, saved):
        self.theta = saved["theta"]


def toy(folder, share, cpus=1):
    scheduler = PopulationBasedTraining(
        "training_iteration", "q", "max", perturbation_interval=4, quantile_fraction=share, synch=True,
        custom_explore_fn=lambda config: config, clone_config=False,
    )  # fmt: skip
    starts = [{"theta": [0.9, 0.9], "h": [1, 0]}, {"theta": [0.9, 0.89], "h": [0, 1]}]
    return tune.run(
        Toy, config=starts, scheduler=scheduler, stop={"training_iteration": 200}, engine=Inline(cpus=cpus),
        storage_path=str(folder), verbose=0,
    )  # fmt: skip


@pytest.mark.parametrize("cpus", [1, 2])
def test_the_toy_of_the_paper(tmp_path: Path, cpus):
    analysis = toy(tmp_path, 0.5, cpus)
    assert analysis.best_result["q"] == pytest.approx(1.1718, abs=5e-5)
    assert [trial.config["h"] for trial in analysis.trials] == [[1, 0], [0, 1]]


def test_the_toy_without_exploitation(tmp_path: Path):
    assert toy(tmp_path, 0).best_result["q"] == pytest.approx(0.3898, abs=5e-5)


@pytest.mark.parametrize("cpus", [1, 4, 16])
def test_an_asynchronous_population_perturbs_on_the_inline_engine(tmp_path: Path, cpus):
    scheduler = PopulationBasedTraining(
        "training_iteration", "q", "max", perturbation_interval=4, quantile_fraction=0.5,
        custom_explore_fn=lambda config: config, clone_config=False,
    )  # fmt: skip
    starts = [{"theta": [0.9, y], "h": [i % 2, 1 - i % 2]} for i, y in enumerate([0.9, 0.89, 0.7, 0.6])]
    analysis = tune.run(
        Toy, config=starts, scheduler=scheduler, stop={"training_iteration": 40}, engine=Inline(cpus=cpus),
        storage_path=str(tmp_path), verbose=0,
    )  # fmt: skip
    records = list(Reader(Path(analysis.experiment_path) / "journal.jsonl"))
    rulings = [one for record in records for one in record.choices if isinstance(one, m.Ruled)]
    clones = [one for one in rulings if one.what == "restart" and one.source not in (None, one.trial_id)]
    assert len(clones) >= 4


# --- synchronous --------------------------------------------------------------------------


def test_members_wait_for_each_other():
    hand, trials = population(3, synch=True, quantile_fraction=1 / 3, cpus=3)
    for trial, score in zip(trials, (1.0, 2.0, 3.0), strict=True):
        assert type(hand.report(trial, 2, score, saves=True)[0]) is m.Halt
    for trial in trials[:2]:
        assert not [order for order in hand.ended(trial, "halted") if isinstance(order, m.Start)]
    orders = hand.ended(trials[2], "halted")
    while hand.asked:
        orders = hand.suggest(None)
    assert {order.trial_id: order.checkpoint.uri for order in orders if isinstance(order, m.Start)} == {
        trials[0]: f"{trials[2]}/2", trials[1]: f"{trials[1]}/2", trials[2]: f"{trials[2]}/2",
    }  # fmt: skip
    assert hand.trial(trials[0]).config["index"] == 2
    assert hand.trial(trials[0]).ruled_t == 2


def test_a_member_that_dies_is_not_waited_for():
    hand, trials = population(3, synch=True, quantile_fraction=1 / 3, cpus=3)
    for trial, score in zip(trials[:2], (1.0, 2.0), strict=True):
        hand.report(trial, 2, score, saves=True)
        hand.ended(trial, "halted")
    orders = hand.ended(trials[2], "raised", "boom")
    while hand.asked:
        orders = hand.suggest(None)
    assert {order.trial_id for order in orders if isinstance(order, m.Start)} == set(trials[:2])


# --- to its end, whatever happens ---------------------------------------------------------

METRICS = {
    "random": lambda config, t: {"score": Random(f"{config['index']} {t}").random()},
    "constant": lambda config, t: {"score": 1.0},
    "nan": lambda config, t: {"score": math.nan},
    "adversarial": lambda config, t: {"score": -t if config["index"] % 2 else t},
}


@pytest.mark.parametrize("synch", [False, True])
@pytest.mark.parametrize("metrics", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize(
    "perils", [Perils(), Perils(raised=0.1, killed=0.05, lost=0.05, latency_s=0.5)], ids=["calm", "bad"]
)
@pytest.mark.parametrize("saves", ["reports", "asked", "never"])
def test_it_ends_and_a_replay_is_equal(synch, metrics, perils, saves):
    def fresh():
        return Controller(
            pbt(synch=synch, quantile_fraction=0.25), Goal("score", "max", is_needed=True),
            limits=Limits(total=8, lookahead=8, max_failures=3), seed=5,
        )  # fmt: skip

    configs = [{"lr": 2, "index": i, "length": 9, "saves": saves, "pace_s": 1 + i % 3} for i in range(8)]
    controller = fresh()
    records = World(controller, Random(3), configs.__getitem__, perils=perils, metrics=metrics).run()
    assert all(trial.status.is_final for trial in controller.trials.values())
    if perils == Perils():
        assert {trial.status for trial in controller.trials.values()} == {Status.TERMINATED}
    again = fresh()
    assert [again.replay(record)[1] for record in records] == [[]] * len(records)
    assert again._scheduler.describe() == controller._scheduler.describe()


def test_no_longer_than_it_may_be():
    import overtone.schedulers.pbt as module

    assert len(Path(module.__file__).read_text("utf-8").splitlines()) <= 130
