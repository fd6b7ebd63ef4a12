"""Whose turn it is: capacity, priorities, caps, reservations, and what the searcher is asked."""

import pytest

from overtone.core import messages as m
from overtone.core.decision import CONTINUE, Pause
from overtone.core.resources import Resources
from overtone.core.trial import Status, Template
from overtone.core.types import Why
from overtone.testing.manual_controller import ByHand, Dictated


def demand(config):
    return Resources.of({name: config[name] for name in ("cpu", "gpu") if name in config} or {"cpu": 1})


BY_CONFIG = Template(resources=demand)
RANKED = Template(resources=demand, priority=lambda config: config.get("priority", 0.0))


def starts(commands):
    return [one.index for one in commands if isinstance(one, m.Start)]


def asks(commands):
    return [one.index for one in commands if isinstance(one, m.Suggest)]


def end(hand, trial, t=1):
    hand.report(trial, t)
    return hand.ended(trial)


def test_no_more_start_than_fit():
    hand = ByHand(cpus=2, limits={"lookahead": 4})
    for _ in range(4):
        hand.suggest({})
    statuses = [one.status for one in hand.controller.trials.values()]
    assert statuses == [Status.STARTING] * 2 + [Status.PENDING] * 2


def test_new_capacity_starts_what_waits():
    hand = ByHand(cpus=1, limits={"lookahead": 3})
    for _ in range(3):
        hand.suggest({})
    assert starts(hand.capacity({"node": {"cpu": 1}, "another": {"cpu": 1}})) == [1]
    assert starts(hand.capacity({"node": {"cpu": 1}, "another": {"cpu": 2}})) == [2]


def test_a_trial_waits_for_capacity_that_went_away():
    hand = ByHand(cpus=2, template=BY_CONFIG, limits={"total": 2, "lookahead": 2})
    small = hand.run({"cpu": 1})
    hand.suggest({"cpu": 2})
    hand.capacity(cpu=1)
    assert end(hand, small) == []
    assert not hand.controller.is_done
    assert starts(hand.capacity(cpu=2)) == [1]


def test_higher_priorities_start_first_and_then_older_ones():
    hand = ByHand(cpus=1, template=RANKED, limits={"lookahead": 4, "total": 5})
    configs = [{}, {"priority": 1}, {"priority": 2}, {"priority": 2}, {"priority": 3}]
    for config in configs[:3]:
        assert starts(hand.suggest(config)) == []  # the first batch is not complete
    (index,) = starts(hand.suggest(configs[3]))
    hand.suggest(configs[4])
    order = [index]
    for _ in range(4):
        running = list(hand.controller.trials)[index]
        hand.started(running)
        (index,) = starts(end(hand, running))
        order.append(index)
    assert order == [2, 4, 3, 1, 0]


@pytest.mark.parametrize("junk", ["STOP", 3, object()])
def test_a_scheduler_that_chooses_no_trial_is_told_what_it_may_choose(junk):
    scheduler = Dictated()
    scheduler.choose = lambda view: junk
    hand = ByHand(scheduler)
    with pytest.raises(TypeError, match=r"Dictated.choose_trial_to_run returned .*: return one of trials"):
        hand.suggest({})


def test_at_most_max_concurrent_run():
    hand = ByHand(cpus=8, limits={"max_concurrent": 2})
    assert hand.asked == [0]
    one = hand.run()
    assert hand.asked == [1]
    hand.run()
    assert hand.asked == []
    assert asks(end(hand, one)) == [2]


def test_max_concurrent_bounds_what_waits_too():
    hand = ByHand(cpus=8, limits={"max_concurrent": 1, "lookahead": 2, "total": 3})
    one = hand.run()
    hand.suggest({}), hand.suggest({})
    assert [one.status for one in hand.controller.trials.values()][1:] == [Status.PENDING] * 2
    assert starts(end(hand, one)) == [1]


def test_smaller_trials_backfill_and_a_large_one_gets_its_turn():
    hand = ByHand(cpus=2, template=BY_CONFIG, limits={"lookahead": 9})
    one, other = hand.run({"cpu": 1}), hand.run({"cpu": 1})
    hand.suggest({"cpu": 2})
    for _ in range(8):
        hand.suggest({"cpu": 1})
    trials = list(hand.controller.trials)
    hand.time = 10.0
    assert starts(end(hand, one)) == [3]  # the large one is passed over, for the first time
    hand.started(trials[3])
    hand.time = 15.0
    assert starts(end(hand, other)) == [4]  # for 5 s, and trials take 10: not yet
    hand.started(trials[4])
    hand.time = 20.0
    assert starts(end(hand, trials[3])) == [5]  # for 10 s: nothing more passes it from now on
    hand.started(trials[5])
    hand.time = 25.0
    assert starts(end(hand, trials[4])) == []
    hand.time = 30.0
    assert starts(end(hand, trials[5])) == [2]
    hand.started(trials[2])
    hand.time = 40.0
    assert starts(end(hand, trials[2])) == [6, 7]


def test_a_reservation_ends_with_the_trial_that_had_it():
    hand = ByHand(cpus=2, template=BY_CONFIG, limits={"lookahead": 9})
    one, other = hand.run({"cpu": 1}), hand.run({"cpu": 1})
    hand.suggest({"cpu": 2})
    for _ in range(8):
        hand.suggest({"cpu": 1})
    trials = list(hand.controller.trials)
    for hand.time, ending, starting in ((10.0, one, 3), (15.0, other, 4), (20.0, trials[3], 5)):
        assert starts(end(hand, ending)) == [starting]
        hand.started(trials[starting])
    hand.time = 25.0
    assert starts(end(hand, trials[4])) == []
    assert starts(hand.tell(m.Requested(25.0, "stop_trial", trials[2]))) == [6]


def test_the_scheduler_chooses():
    def last(view):
        fitting = list(view.runnable())
        return fitting[-1] if fitting else None

    hand = ByHand(Dictated(choose=last), cpus=1, limits={"lookahead": 3, "total": 4})
    one = hand.run()
    for _ in range(3):
        hand.suggest({})
    assert starts(end(hand, one)) == [3]


def test_a_scheduler_that_chooses_what_does_not_fit_starts_nothing():
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2, template=BY_CONFIG, limits={"lookahead": 2, "total": 3})
    running = hand.run({"cpu": 1})
    scheduler.choose = lambda view: view.trials[list(view.trials)[1]]
    assert starts(hand.suggest({"cpu": 2})) == []
    assert starts(hand.suggest({"cpu": 1})) == []
    scheduler.choose = None
    assert starts(hand.report(running, 1) + hand.tell(m.Tick(1.0))) == [2]


@pytest.mark.parametrize("status", ["RUNNING", "TERMINATED"])
def test_a_scheduler_that_chooses_what_does_not_wait_is_told_so(status):
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2)
    trial = hand.run()
    if status == "TERMINATED":
        end(hand, trial)
    scheduler.choose = lambda view: view.trials[trial]
    message = f"Dictated.choose_trial_to_run returned trial {trial}, which is {status}: return one of trials"
    with pytest.raises(ValueError, match=message):
        hand.suggest({})


def test_a_scheduler_that_never_goes_on_ends_the_search():
    hand = ByHand(Dictated({(0, 1): Pause(Why("for ever"))}), limits={"total": 1})
    trial = hand.run()
    hand.controller._scheduler.choose = lambda view: None
    hand.report(trial, 1, saves=True)
    hand.ended(trial, "halted")
    assert hand.status(trial) is Status.TERMINATED
    assert hand.trial(trial).why.note == "the scheduler chose no trial to go on with"
    assert hand.controller.is_done


def test_a_scheduler_that_never_starts_anything_ends_the_search():
    hand = ByHand(Dictated(choose=lambda view: None))
    assert hand.suggest({}) == []
    assert hand.controller.is_done


def test_review_comes_before_giving_up_on_paused_trials():
    scheduler = Dictated({(0, 1): "PAUSE"}, choose=lambda view: None)
    hand = ByHand(scheduler, limits={"total": 1})
    scheduler.choose = None
    trial = hand.run()
    hand.report(trial, 1, saves=True)
    scheduler.choose = lambda view: view.first_runnable() if view.search_is_over else None
    assert starts(hand.ended(trial, "halted")) == [0]
    assert scheduler.told.count(("review",)) == 2


# --- what the searcher is asked --------------------------------------------------------


def test_nothing_is_asked_for_while_the_newest_trial_waits():
    """Two halves of two GPUs are left: more than 0.6 in sum, and nowhere enough."""
    hand = ByHand(cpus=None, template=BY_CONFIG)
    hand.capacity(gpu=2)
    while hand.asked:
        hand.suggest({"gpu": 0.6})
        assert len(hand.controller.trials) <= 3
    assert [one.status for one in hand.controller.trials.values()][:2] == [Status.STARTING] * 2


def test_an_infeasible_config_is_followed_by_another():
    hand = ByHand(cpus=2, template=BY_CONFIG)
    assert asks(hand.suggest({"cpu": 9})) == [1]
    assert starts(hand.suggest({"cpu": 1})) == [1]


def test_demands_over_several_nodes_are_asked_for_again():
    pair = Template(resources=lambda _: Resources.of([{"cpu": 4}, {"cpu": 4}]))
    hand = ByHand(cpus=None, template=pair)
    hand.capacity({"a": {"cpu": 4}, "b": {"cpu": 4}})
    trial = hand.run()
    assert hand.asked == []
    assert asks(end(hand, trial)) == [1]


def test_nothing_is_asked_for_without_capacity():
    hand = ByHand(cpus=None)
    assert hand.capacity({}) == []
    assert not hand.controller.is_done
    assert asks(hand.capacity(cpu=1)) == [0]


@pytest.mark.parametrize("junk", [None, 3, "STOP", ["x"], [("x",)], [("x", "HALT")], [(1, CONTINUE)]])
def test_a_scheduler_whose_review_gives_no_rulings_is_told_what_to_yield(junk):
    scheduler = Dictated()
    hand = ByHand(scheduler)
    running = hand.run({})
    hand.report(running, 1)
    scheduler.reviews = [junk]
    scheduler.review = lambda trials: scheduler.reviews.pop() if scheduler.reviews else ()
    with pytest.raises(TypeError, match=r"Dictated.review (gave|returned) "):
        hand.ended(running)


def test_a_review_may_answer_with_flags():
    scheduler = Dictated()
    hand = ByHand(scheduler, cpus=2, limits={"total": 2})
    one, other = hand.run({}), hand.run({})
    scheduler.reviews = [[(other, "STOP")]]
    hand.report(one, 1)
    assert [command.trial_id for command in hand.ended(one) if isinstance(command, m.Halt)] == [other]


@pytest.mark.parametrize("junk", [None, "x"])
def test_a_scheduler_that_knows_no_next_decision_is_told_what_to_return(junk):
    scheduler = Dictated()
    scheduler.ahead = junk
    with pytest.raises(TypeError, match="Dictated.next_decision returned"):
        ByHand(scheduler).suggest({})
