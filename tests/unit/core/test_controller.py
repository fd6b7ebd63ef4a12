"""Events in, commands out: how trials come to be, start and report."""

import math

from overtone.core import messages as m
from overtone.core.goal import Goal
from overtone.core.protocols import Stopper
from overtone.core.resources import Placement, Resources
from overtone.core.trial import Status, Template
from overtone.core.types import WORST
from overtone.testing.manual_controller import ByHand, Dictated, Saying

ONE_CPU = Resources.of({"cpu": 1})
HERE = Placement(("node",), ((),))


def start(trial, index=0, attempt=0, config=None, **more):
    return m.Start(
        trial, attempt, index, config or {}, ONE_CPU, HERE, more.pop("saved", None),
        more.pop("until_t", 0.0), str(index), more.pop("name", ""),
    )  # fmt: skip


# --- beginnings ------------------------------------------------------------------------


def test_capacity_asks_for_a_first_trial_and_then_for_as_many_as_fit():
    hand = ByHand(cpus=None)
    assert hand.capacity(cpu=3) == [m.Suggest(0)]
    first = hand.suggest({"x": 1})
    trial = next(iter(hand.controller.trials))
    assert first == [start(trial, config={"x": 1}), m.Suggest(1), m.Suggest(2)]
    assert hand.choices == (
        m.Added(trial, 0, {"x": 1}, ONE_CPU, "0"),
        m.Moved(trial, "STARTING", 0, placement=HERE),
    )


def test_ids_come_from_the_seed():
    ids = [next(iter(ByHand(seed=seed).controller.trials), None) for seed in (1, 1, 2)]
    assert ids == [None] * 3
    one, same, other = (ByHand(seed=seed).run() for seed in (1, 1, 2))
    assert one == same != other
    assert one.endswith("_00000")
    assert len(one) == 11


def test_lookahead_keeps_suggestions_waiting():
    hand = ByHand(cpus=None, limits={"lookahead": 3})
    assert hand.capacity(cpu=1) == [m.Suggest(0), m.Suggest(1), m.Suggest(2)]
    assert hand.suggest({})[1:] == [m.Suggest(3)]  # one started: two waited for, one more
    assert hand.suggest({}) == []
    assert hand.suggest({}) == []
    assert hand.suggest({}) == []
    assert [one.status for one in hand.controller.trials.values()] == [Status.STARTING] + [Status.PENDING] * 3


def test_total_bounds_what_is_asked_for():
    hand = ByHand(cpus=4, limits={"total": 2, "lookahead": 8})
    assert hand.asked == [0, 1]
    one, other = hand.run(), hand.run()
    assert hand.asked == []
    assert not hand.controller.is_done
    for trial in (one, other):
        hand.report(trial, 1)
        hand.ended(trial)
    assert hand.controller.is_done
    assert hand.controller.view.search_is_over


def test_a_total_of_none_at_all_is_done_at_once():
    hand = ByHand(cpus=1, limits={"total": 0})
    assert hand.controller.is_done


def test_a_searcher_that_says_none_while_nothing_runs_ends_the_search():
    hand = ByHand()
    assert hand.suggest(None) == []
    assert hand.controller.is_done


def test_a_searcher_that_says_none_is_asked_again_when_a_trial_ended():
    hand = ByHand(cpus=2)
    trial = hand.run()
    assert hand.asked == [1]
    assert hand.suggest(None) == []
    assert not hand.controller.is_done
    assert hand.report(trial, 1) == [m.Proceed(trial, 0, 0.0)]
    assert hand.ended(trial) == [m.Suggest(1), m.Suggest(2)]


def test_a_late_none_does_not_end_the_search_that_went_on_meanwhile():
    hand = ByHand(cpus=2, limits={"total": 2})
    trial = hand.run()  # question 1 is on its way to a searcher that wants one trial at a time
    hand.report(trial, 1)
    assert hand.ended(trial) == []
    assert hand.suggest(None) == [m.Suggest(1)]
    hand.suggest({"x": 2})
    assert len(hand.controller.trials) == 2


def test_template_makes_demand_tag_priority_and_name():
    template = Template(
        resources=lambda config: Resources.of({"cpu": config["cpu"]}),
        tag=lambda index, config: f"{index}_cpu={config['cpu']}",
        priority=lambda config: config["cpu"] * 10,
        name=lambda trial: f"my {trial.index}",
    )
    hand = ByHand(cpus=2, template=template)
    (order, *_) = hand.suggest({"cpu": 2})
    trial = hand.trial(order.trial_id)
    assert (order.resources, order.tag, order.name) == (Resources.of({"cpu": 2}), "0_cpu=2", "my 0")
    assert trial.priority == 20
    added = hand.choices[0]
    assert (added.tag, added.priority, added.name) == ("0_cpu=2", 20, "my 0")


def test_a_process_that_runs():
    hand = ByHand()
    trial = hand.run()
    assert hand.status(trial) is Status.RUNNING
    assert hand.choices == (m.Moved(trial, "RUNNING", 0),)


def test_the_time_budget_is_woken_for_once_and_ends_the_search():
    hand = ByHand(cpus=None, limits={"time_budget_s": 60.0})
    assert hand.capacity(cpu=1) == [m.Wake(60.0), m.Suggest(0)]
    assert hand.capacity(cpu=1) == []
    trial = hand.run()
    hand.report(trial, 1)
    assert hand.tell(m.Tick(59.9)) == []
    assert hand.tell(m.Tick(60.0)) == [m.Halt(trial, 0, save=True)]
    assert hand.choices[0] == m.Noted("the time budget of 60 s is spent")
    assert hand.ended(trial, "halted") == []
    assert hand.status(trial) is Status.TERMINATED
    assert hand.trial(trial).why.rule == "time_budget_s"
    assert hand.controller.is_done


def test_what_does_not_concern_it_is_logged_and_changes_nothing():
    hand = ByHand()
    assert hand.tell(m.Discarded(1.0, "gone")) == []
    assert not hand.is_stale
    assert hand.tell(m.Tick(1.0)) == []


# --- results ---------------------------------------------------------------------------


def test_a_result_is_entered_and_the_trial_goes_on():
    scheduler = Dictated()
    hand = ByHand(scheduler)
    trial = hand.run()
    assert hand.report(trial, 1, score=3.0) == [m.Proceed(trial, 0, 0.0)]
    assert hand.choices == ()
    assert hand.report(trial, 2, score=2.0) == [m.Proceed(trial, 0, 0.0)]
    found = hand.trial(trial)
    assert (found.n_results, found.ruled_t, found.last.score, found.best.score) == (2, 2, 2.0, 3.0)
    assert scheduler.told == [("add", 0), ("rule", 0, "Continue"), ("rule", 0, "Continue")]


def test_nan_never_is_the_best():
    hand = ByHand()
    trial = hand.run()
    hand.report(trial, 1, score=math.nan)
    assert hand.trial(trial).last.score == WORST
    hand.report(trial, 2, score=-5.0)
    hand.report(trial, 3, score=math.nan)
    assert hand.trial(trial).best.score == -5.0


def test_a_report_without_the_metric_is_ruled_on_by_nobody_but_shown_to_stoppers():
    seen = []
    hand = ByHand(Dictated({(0, 1): "STOP"}), stoppers=[Saying(lambda trial, result: seen.append(result.t))])
    trial = hand.run()
    assert hand.report(trial, 1, score=None, other=1) == [m.Proceed(trial, 0, 0.0)]
    assert seen == [1]
    assert hand.trial(trial).best is None


def test_the_searcher_observes_results_and_ends_if_it_wants_to():
    hand = ByHand(observes=True)
    trial = hand.run()
    observed, _ = hand.report(trial, 1)
    assert observed == m.Observe(hand.trial(trial), hand.trial(trial).last)
    assert hand.ended(trial)[0] == m.Observe(hand.trial(trial), None)


def test_a_trial_that_ended_keeps_few_numbers():
    hand = ByHand()
    trial = hand.run()
    hand.report(trial, 1, huge="x" * 1000, time_total_s=3.0)
    hand.ended(trial)
    assert dict(hand.trial(trial).last) == {"score": 1.0, "training_iteration": 1, "time_total_s": 3.0}
    assert hand.trial(trial).best.score == 1.0


# --- run-ahead -------------------------------------------------------------------------


def test_reports_before_the_next_decision_are_not_answered():
    hand = ByHand(Dictated(ahead=3.0))
    hand.suggest({})
    trial = next(iter(hand.controller.trials))
    assert hand.started(trial) == []
    assert hand.report(trial, 1) == []
    assert hand.report(trial, 2) == []
    assert hand.report(trial, 3) == [m.Proceed(trial, 0, 3.0)]
    assert hand.report(trial, 4) == [m.Proceed(trial, 0, 3.0)]


def test_a_start_says_how_far_to_run_ahead():
    hand = ByHand(Dictated(ahead=7.0))
    (order, *_) = hand.suggest({})
    assert order.until_t == 7.0


def test_stoppers_bound_the_run_ahead():
    class At(Stopper):
        def __init__(self, t):
            self.t = t

        def __call__(self, trial, result):
            return "there" if result.t >= self.t else None

        def next_decision(self, trial):
            return self.t

    for stoppers in ([At(4), At(2)], [At(2), At(4)]):
        assert ByHand(Dictated(ahead=9.0), stoppers=stoppers).suggest({})[0].until_t == 2
    plain = ByHand(Dictated(ahead=9.0), stoppers=[Saying(lambda trial, result: None)])
    assert plain.suggest({})[0].until_t == 0.0  # it may stop any time


def test_no_run_ahead_before_a_needed_metric_is_known():
    hand = ByHand(Dictated(ahead=9.0), goal=Goal(is_needed=True))
    assert hand.suggest({})[0].until_t == 0.0
    trial = next(iter(hand.controller.trials))
    hand.started(trial)
    assert hand.report(trial, 1) == [m.Proceed(trial, 0, 9.0)]
    assert hand.choices == (m.Noted("metric and mode were not named: taking metric='score', mode=\"max\""),)


def test_no_run_ahead_on_another_clock_than_the_iterations():
    hand = ByHand(Dictated(ahead=9.0), goal=Goal("score", "max", time_attr="time_total_s"))
    assert hand.suggest({})[0].until_t == 0.0
    forever = ByHand(Dictated(ahead=m.NEVER), goal=Goal("score", "max", time_attr="time_total_s"))
    assert forever.suggest({})[0].until_t == m.NEVER
