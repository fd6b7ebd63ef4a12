"""`scheduler="auto"` pauses trials that saved, and lets them go on once no cutoff is above them."""

from math import inf
from random import Random

import pytest

from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.core.trial import Status
from overtone.schedulers.adapter import known_form
from overtone.schedulers.auto import WAITING, AutoScheduler
from overtone.schedulers.resize import ResourceChangingScheduler
from overtone.schedulers.schedule import Exponential, HyperparameterSchedule
from overtone.testing.manual_controller import ByHand

LENGTH = 16


class Rule(AutoScheduler):
    """The scheduler, with a cutoff at each rung that a test sets instead of the one that was learnt."""

    cutoff = -inf

    def on_start(self, view):
        super().on_start(view)
        self._whole.chance = lambda trust: 0.0  # no trial is exempt
        self._ranks.is_below = lambda k, score: score < self.cutoff


def by_hand(scheduler=None, cpus=1, **options):
    return ByHand(
        scheduler or Rule(), cpus=cpus, goal=Goal("score", "max", is_needed=True), seed=1, **options
    )


def rule_of(hand):
    return hand.controller._scheduler


def intent(hand, trial):
    return [one.what for one in hand.choices if isinstance(one, m.Ruled) and one.trial_id == trial]


def paused(hand, score, saves=True, cutoff=0.5):
    """Run a trial until it is below the cutoff; return its id."""
    rule_of(hand).cutoff = cutoff
    trial = hand.run()
    halts = [one for one in hand.report(trial, 1, score, saves) if isinstance(one, m.Halt)]
    assert [one.trial_id for one in halts] == [trial]
    hand.ended(trial, "halted")
    return trial


def started(commands):
    return [one.trial_id for one in commands if isinstance(one, m.Start)]


def test_a_trial_that_saved_is_paused_and_keeps_no_process():
    hand = by_hand()
    rule_of(hand).cutoff = 0.5
    trial = hand.run()
    (halt,) = (one for one in hand.report(trial, 1, 0.1, saves=True) if isinstance(one, m.Halt))
    assert halt.save
    assert not halt.park, "a process that cannot save would wait with its memory"
    assert intent(hand, trial) == ["pause"]
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.PAUSED
    assert "num_stopped=0 num_paused=1" in rule_of(hand).describe()


@pytest.mark.parametrize("saved_at", [None, 3])
def test_a_trial_that_would_redo_more_than_half_is_stopped(saved_at):
    hand = by_hand()
    trial = hand.run()
    for t in range(1, 8):
        hand.report(trial, t, 0.1, saves=t == saved_at)
    rule_of(hand).cutoff = 0.5
    hand.report(trial, 8, 0.1)
    assert intent(hand, trial) == ["stop"]
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.TERMINATED
    assert "num_stopped=1 num_paused=0" in rule_of(hand).describe()


def test_a_checkpoint_of_another_trial_saves_no_work():
    hand = by_hand()
    first = paused(hand, 0.1)
    rule_of(hand).cutoff = 0.5
    second = hand.run()
    hand.trial(second).checkpoint = hand.trial(first).checkpoint
    hand.report(second, 1, 0.1)
    assert intent(hand, second) == ["stop"]


def test_schedulers_around_it_keep_no_process_either():
    around = (
        HyperparameterSchedule({"lr": Exponential(0.9)}, AutoScheduler()),
        ResourceChangingScheduler(AutoScheduler()),
    )
    assert not any(one.parks for one in around)
    assert HyperparameterSchedule({"lr": Exponential(0.9)}).parks


def test_a_subclass_in_ray_tunes_form_keeps_no_process_either():
    class Mine(AutoScheduler):
        def on_trial_result(self, controller, trial, result):
            return super().on_trial_result(controller, trial, result)

    assert not known_form(Mine()).parks


def test_it_goes_on_before_a_new_trial_once_the_cutoff_is_lower():
    hand = by_hand()
    low, high = paused(hand, 0.2), paused(hand, 0.4)
    running = hand.run()
    rule_of(hand).cutoff = 0.3
    assert started(hand.ended(running)) == [high], "the other is still below"
    hand.started(high)
    assert not any(isinstance(one, m.Halt) for one in hand.report(high, 2, 0.6))
    assert not started(hand.ended(high))
    assert hand.status(low) is Status.PAUSED
    assert started(hand.suggest({})) not in ([], [low]), "a new trial takes the slot"


def test_the_furthest_goes_on_first_then_the_best():
    hand = by_hand()
    far = hand.run()
    hand.report(far, 1, 0.9, saves=True)
    rule_of(hand).cutoff = 0.5
    hand.report(far, 2, 0.1, saves=True)
    hand.ended(far, "halted")
    near, best = paused(hand, 0.2), paused(hand, 0.3)
    rule_of(hand).cutoff = -inf
    assert rule_of(hand)._resumable() == [far, best, near]


def test_without_any_belief_the_oldest_goes_on_first():
    hand = by_hand()
    ids = [paused(hand, score) for score in (0.1, 0.3, 0.2)]
    rule_of(hand)._whole.grace = inf
    assert rule_of(hand)._resumable() == ids


def test_a_trial_that_goes_on_counts_as_if_it_had_never_waited():
    def counts(hand):
        rule = rule_of(hand)
        ranks = rule._ranks
        whole = rule._whole
        return ranks.n_aside, ranks._gone, whole.n_judged, whole.judged_t, whole._era_n, ranks.rungs

    results = []
    for waits in (False, True):
        hand = by_hand()
        other = hand.run()
        for t in range(1, 5):
            hand.report(other, t, 1.0)
        hand.ended(other)
        rule_of(hand).cutoff = 0.5 if waits else -inf
        trial = hand.run()
        hand.report(trial, 1, 0.1, saves=True)
        if waits:
            rule_of(hand).cutoff = -inf
            assert started(hand.ended(trial, "halted")) == [trial]
            hand.started(trial)
        for t in range(2, 5):
            hand.report(trial, t, 0.1)
        hand.ended(trial)
        results.append(counts(hand))
    assert results[0] == results[1]


def test_the_oldest_end_when_too_many_wait():
    hand = by_hand()
    ids = [paused(hand, 0.1) for _ in range(WAITING + 2)]
    final = [one for one in ids if hand.status(one).is_final]
    assert final == ids[:2]
    assert "were paused later" in hand.trial(ids[0]).why.note
    assert rule_of(hand)._ranks.n_aside == WAITING + 2


def test_those_that_wait_end_when_no_other_trial_will_come():
    hand = by_hand(limits={"total": 2})
    ids = [paused(hand, 0.1), paused(hand, 0.2)]
    assert [hand.status(one) for one in ids] == [Status.TERMINATED] * 2
    assert hand.controller.is_done
    assert "no other trial will come" in hand.trial(ids[0]).why.note


def test_it_goes_on_if_the_last_trial_shows_that_the_rule_was_wrong():
    hand = by_hand(limits={"total": 2})
    first = paused(hand, 0.1)
    last = hand.run()
    rule_of(hand).cutoff = -inf
    assert started(hand.ended(last)) == [first]


def test_a_trial_that_a_person_holds_does_not_go_on():
    hand = by_hand()
    held, other = paused(hand, 0.4), paused(hand, 0.2)
    hand.tell(m.Requested(hand.time, "pause_trial", held))
    running = hand.run()
    rule_of(hand).cutoff = -inf
    assert started(hand.ended(running)) == [other]


def test_a_trial_that_a_person_ends_while_it_waits_is_no_whole_run():
    hand = by_hand()
    trial = paused(hand, 0.1)
    hand.tell(m.Requested(hand.time, "stop_trial", trial))
    assert hand.status(trial) is Status.TERMINATED
    assert rule_of(hand)._ranks.n_ended == 0
    assert rule_of(hand)._ranks.n_aside == 1


def test_a_trial_that_fails_while_it_pauses_starts_again():
    hand = by_hand(limits={"max_failures": 3})
    rule_of(hand).cutoff = 0.5
    trial = hand.run()
    hand.report(trial, 1, 0.1, saves=True)
    assert started(hand.ended(trial, "raised", "the disk is full")) == [trial]
    hand.started(trial)
    hand.report(trial, 2, 0.1, saves=True)
    assert intent(hand, trial) == ["pause"], "it is judged again"


def search(length, seed, saves):
    """Run a search one trial at a time; return the controller, and the trials that ran to their end."""
    hand = by_hand(AutoScheduler(), cpus=1)
    random, quality, n, done = Random(seed), {}, 0, []
    commands = hand.suggest({})
    while n < 60 * length:
        (trial,) = started(commands) or started(hand.suggest({}))
        hand.started(trial)
        mine = quality.setdefault(trial, random.random())
        for t in range(hand.trial(trial).ruled_t + 1, length + 1):
            n += 1
            halted = any(isinstance(one, m.Halt) for one in hand.report(trial, t, mine + t, saves))
            if halted or t == length:
                break
        done += [trial] * (t == length)
        commands = hand.ended(trial, "halted" if halted else "returned")
    return hand, done


def test_a_search_whose_trials_save_pauses_and_resumes():
    hand, done = search(LENGTH, 3, saves=True)
    resumed = [one for one in hand.controller.trials.values() if one.attempt > 1]
    assert resumed, "some go on later"
    assert any(one.id in done for one in resumed)
    assert len(hand.controller.trials) > 70, "most do not run whole"
    _, done_without = search(LENGTH, 3, saves=False)
    assert done_without
