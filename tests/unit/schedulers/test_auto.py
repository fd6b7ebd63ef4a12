"""The default that stops trials only to the extent that early ranks were seen to predict final ranks."""

import math
from random import Random
from types import SimpleNamespace

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.decision import CONTINUE
from overtone.core.goal import Goal
from overtone.core.trial import Status
from overtone.core.types import Result
from overtone.schedulers.auto import AutoScheduler
from overtone.schedulers.early_ranks import RECENT, UNSEEN
from overtone.schedulers.whole_runs import LEAST_WHOLE, MIN_ENDED, WholeRuns
from overtone.testing.curves import MISLEADING, misleading
from overtone.testing.manual_controller import ByHand

LENGTH = 16


def by_hand(**options):
    return ByHand(AutoScheduler(), goal=Goal("score", "max", is_needed=True), **options)


def is_halted(commands):
    return any(type(command) is m.Halt for command in commands)


def search(curve, n, seed=1, length=LENGTH, step=1):
    """Run trials one after another; return their lengths and the scheduler."""
    hand = by_hand(cpus=1, seed=seed)
    random, lengths = Random(seed), []
    for _ in range(n):
        quality, trial = random.random(), hand.run()
        for t in range(step, length * step + 1, step):
            if is_halted(hand.report(trial, t, curve(quality, t // step, random))):
                break
        lengths.append(t // step)
        hand.ended(trial, "halted" if t < length * step else "returned")
    return lengths, hand.controller._scheduler


def steady(quality, t, random):
    return quality + t


def unrelated(quality, t, random):
    return random.random() if t < LENGTH else quality + 1


def first_wave(score, n=8, **options):
    """Report n trials side by side until one ends; return the scheduler and how many were stopped."""
    hand = ByHand(AutoScheduler(**options), cpus=n, goal=Goal("score", "max", is_needed=True))
    trials, n_stopped = {hand.run(): rank for rank in range(n)}, 0
    for t in range(1, LENGTH + 1):
        for trial, rank in [*trials.items()]:
            if is_halted(hand.report(trial, t, float(score(rank, t)))):
                hand.ended(trial, "halted")
                del trials[trial]
                n_stopped += 1
    scheduler = hand.controller._scheduler
    assert scheduler._ranks.n_ended == 0 < MIN_ENDED
    return scheduler, n_stopped


def test_stable_ranks_are_believed_before_a_trial_ended():
    scheduler, n_stopped = first_wave(lambda rank, t: t - rank)
    assert 0 < n_stopped < 8
    assert 0.2 < scheduler._ranks.rho(0) < 0.95, "shrunk for few trials and for the time still ahead"


def test_ranks_that_change_from_rung_to_rung_are_not_believed():
    draws = Random(2)
    scheduler, n_stopped = first_wave(lambda rank, t: t + draws.random())
    assert n_stopped <= 1


def test_nothing_is_believed_before_trials_passed_two_rungs():
    hand = by_hand(cpus=16)
    for rank in range(16):
        assert not is_halted(hand.report(hand.run(), 1, float(rank)))
    assert hand.controller._scheduler._ranks.rho(0) == 0


def test_all_are_whole_until_two_ended_if_that_is_asked():
    scheduler, n_stopped = first_wave(lambda rank, t: t - rank, first_whole=1)
    assert n_stopped == 0
    assert scheduler._whole.chance(scheduler._trust) == 1


def test_a_quarter_of_the_time_goes_to_whole_runs_at_first():
    scheduler, _ = first_wave(lambda rank, t: t - rank)
    assert scheduler._trust.first_whole == 0.25
    share = 0.25 * scheduler._whole.judged_t / scheduler._whole.n_judged
    length = UNSEEN * LENGTH
    assert scheduler._whole.chance(scheduler._trust) == pytest.approx(share / (0.75 * length + share))


@pytest.mark.parametrize("share", [0, 0.04, 1.5, "half", math.nan])
def test_the_first_share_is_checked(share):
    with pytest.raises((TypeError, ValueError), match="first_whole"):
        AutoScheduler(first_whole=share)


def test_most_are_stopped_early_if_early_ranks_are_final():
    lengths, scheduler = search(steady, 60)
    later = lengths[10:]
    assert sum(length < LENGTH for length in later) > 0.7 * len(later)
    assert sum(later) < 0.5 * LENGTH * len(later)
    assert scheduler._ranks.rho(0) > 0.6


@pytest.mark.parametrize("kind", [one for one in MISLEADING if one != "early then not"])
def test_little_time_is_wasted_on_curves_that_mislead(kind):
    wasted, total = 0, 0
    for seed in range(3):
        curve, configs = misleading(kind, LENGTH), {}

        def scored(quality, t, random, curve=curve, configs=configs):
            config = configs.setdefault(quality, {"final": quality, "other": random.random()})
            return curve(config, t)["score"]

        lengths, _ = search(scored, 120, seed)
        wasted += sum(length for length in lengths if length < LENGTH)
        total += sum(lengths)
    assert wasted < 0.3 * total


def test_a_belief_that_proved_wrong_is_given_up():
    """Early ranks are steady until the middle and then independent of it: only whole runs can tell."""
    wasted = []
    for seed in range(3):
        curve, configs = misleading("early then not", LENGTH), {}

        def scored(quality, t, random, curve=curve, configs=configs):
            config = configs.setdefault(quality, {"final": quality, "other": random.random()})
            return curve(config, t)["score"]

        lengths, _ = search(scored, 160, seed)
        later = lengths[80:]
        wasted.append(sum(length for length in later if length < LENGTH) / sum(later))
    assert sorted(wasted)[1] < 0.35


def test_a_share_of_time_always_goes_to_whole_runs():
    lengths, scheduler = search(steady, 800)
    assert scheduler._whole.speedup > 2
    exempt = scheduler._whole.n_ended * LENGTH / sum(lengths)
    assert exempt > 0.7 * LEAST_WHOLE
    weights = {run.weight for run in scheduler._ranks._ended}
    assert max(weights) > 1, "an exempt trial below the cutoff stands for those that were stopped"


def test_the_best_are_not_stopped():
    hits = 0
    for seed in range(10):
        lengths, _ = search(steady, 30, seed)
        draws = Random(seed)
        qualities = [draws.random() for _ in range(30)]
        hits += lengths[max(range(30), key=qualities.__getitem__)] == LENGTH
    assert hits == 10


def test_rungs_are_multiples_of_the_first_reported_t():
    lengths, scheduler = search(steady, 40, step=7)
    assert scheduler._unit == 7
    assert lengths == search(steady, 40)[0]


def test_nan_is_stopped_at_once():
    hand = by_hand(cpus=1)
    trial = hand.run()
    assert type(hand.report(trial, 1, math.nan)[0]) is m.Halt
    assert hand.choices[0].why.note == "the metric is NaN"


def test_it_rules_again_an_eighth_further():
    hand = by_hand(cpus=1)
    trial = hand.run()
    orders = [order.until_t for t in range(1, 33) for order in hand.report(trial, t)]
    assert orders[-5:] == pytest.approx([23.625, 27, 30.375, 32, 36])


def test_an_early_trial_is_judged_again_among_later_ones():
    _, scheduler = search(steady, 100)
    scheduler._whole.grace = 0
    early = SimpleNamespace(id="early", index=10**6, best=Result(1.0, 1.5), checkpoint=None)
    scheduler._runs["early"] = run = type(scheduler._ranks._ended[0])(is_drawn=True)
    scheduler._view = SimpleNamespace(goal=Goal("score", "max"))
    run.path.append(1.5)
    run.t = 1.0
    early.best = Result(1.1, 1.1)
    decision = scheduler.on_result(early, Result(1.2, 1.1))
    assert decision.why.rung == 1
    assert decision.why.rank is None, "the numbers would not be those of its score at rung 1"
    assert "cutoff" in decision.why.note


def test_nothing_is_stopped_beyond_the_longest_whole_run():
    _, scheduler = search(steady, 100)
    scheduler._whole.grace = 0
    scheduler._runs["long"] = run = type(scheduler._ranks._ended[0])(is_drawn=True, path=[0.0] * 5)
    trial = SimpleNamespace(id="long", index=10**6, best=Result(LENGTH, 0.0), checkpoint=None)
    assert scheduler.on_result(trial, Result(LENGTH, 0.0)) is CONTINUE
    run.path, run.t = [0.0] * 4, 15.0
    assert scheduler.on_result(trial, Result(LENGTH - 1, 0.0)) is not CONTINUE


def test_its_cost_does_not_grow_with_the_number_of_trials(monkeypatch):
    _, scheduler = search(steady, 100)
    computed = []
    monkeypatch.setattr(scheduler._ranks, "rho", lambda k: computed.append(k) or 0.5)
    for n in range(200):
        scheduler._ranks.bar(0)
        scheduler._ranks.rungs[0].append(float(100 + n))
    assert len(computed) <= 10
    tests = []
    whole = scheduler._whole
    monkeypatch.setattr(whole, "_test", lambda: tests.append(1) or WholeRuns._test(whole))
    view = SimpleNamespace(goal=Goal("score", "max"), random=lambda *key: Random(repr(key)))
    monkeypatch.setattr(scheduler, "_view", view)
    for index in range(1000, 1200):
        trial = SimpleNamespace(
            id=str(index), index=index, best=Result(LENGTH, 1.0), why=None, checkpoint=None
        )
        trial.last, trial.status = trial.best, Status.TERMINATED
        scheduler.on_trial_add(trial)
        scheduler.on_result(trial, trial.best)
        scheduler.on_trial_end(trial)
    assert 0 < len(tests) <= 12, "the rule is tested again when an eighth more is known"
    assert all(
        len(kept) <= RECENT
        for kept in (scheduler._ranks._ended, scheduler._whole.newest, *scheduler._ranks._came)
    )
    assert not scheduler._runs


def test_a_reason_is_given():
    hand = by_hand(cpus=1)
    random = Random(0)
    for _ in range(60):
        trial, quality = hand.run(), random.random()
        for t in range(1, LENGTH + 1):
            if is_halted(hand.report(trial, t, quality + t)):
                why = hand.choices[0].why
                assert why.rule == "auto"
                assert why.rung in (1, 2, 4, 8)
                assert "rho=" in why.note
                return
        hand.ended(trial, "returned")
    pytest.fail("nothing was stopped")


def test_a_description_changes_no_decision():
    def described(is_shown):
        hand, random, lengths = by_hand(cpus=8), Random(5), []
        for _ in range(6):
            trials = {hand.run(): random.random() for _ in range(8)}
            for t in range(1, LENGTH + 1):
                for trial, quality in [*trials.items()]:
                    if is_shown:
                        hand.controller._scheduler.describe()
                    halted = is_halted(hand.report(trial, t, quality + t + random.random() / 4))
                    if halted or t == LENGTH:
                        hand.ended(trial, "halted" if halted else "returned")
                        lengths.append(t)
                        del trials[trial]
        return lengths, hand.controller._scheduler.describe()

    assert described(True) == described(False)


def test_its_name():
    assert type(tune.create_scheduler("auto")) is AutoScheduler
    assert AutoScheduler(metric="loss", mode="min").arguments == ((), {"metric": "loss", "mode": "min"})


def test_equal_trials_all_continue():
    lengths, _ = search(lambda quality, t, random: 1.0, 12)
    assert lengths == [LENGTH] * 12


@pytest.mark.parametrize("t", [math.inf, 0.0, -1.0])
def test_a_clock_that_tells_no_rung_is_not_judged(t):
    scheduler, trial = AutoScheduler(), SimpleNamespace(id="a", index=0, best=None, checkpoint=None)
    scheduler.on_start(None)
    scheduler.on_trial_add(trial)
    assert scheduler.on_result(trial, Result(t, 1.0)) is CONTINUE
    assert scheduler.next_decision(trial) == 0


def test_misleading_curves_name_their_kinds():
    with pytest.raises(ValueError, match="'noise'"):
        misleading("unknown")
    assert misleading("noise", 3)({"final": 0.5, "other": 0.5}, 4) is None
