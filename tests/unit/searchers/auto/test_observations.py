"""What is remembered of trials."""

from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result, Why
from overtone.errors import SpaceError
from overtone.searchers.auto.observations import STEP, Observation, Told


def to_point(config):
    if "x" not in config:
        raise SpaceError("no x")
    return [config["x"]]


def trial(config, suggestion=None, status=Status.TERMINATED):
    return Trial("t", 0, config, Resources.of({"cpu": 1}), status, suggestion=suggestion)


def report(told, one, t, score=0.0, **metrics):
    told.on_result(one, Result(t, score, (score,), (), metrics))


def test_the_last_result_counts_with_its_time():
    told, one = Told(to_point), trial({"x": 0.5})
    told.on_result(one, Result(1, 9.0, (9.0,), (), {"time_total_s": 1.0}))
    told.on_result(one, Result(STEP, 3.0, (3.0,), (0.5,), {"time_total_s": 2.0}))
    told.on_result(one, Result(9, 0.0, ()))  # without the metric
    told.on_trial_end(one)
    assert told.observations[-1] == Observation(0, (0.5,), (3.0,), (0.5,), 2.0, 1.0, is_complete=True)


def test_a_trial_is_observed_where_its_t_has_grown_by_a_factor_and_at_its_end():
    told, one = Told(to_point), trial({"x": 0.5})
    for t in range(10, 101, 10):
        report(told, one, t, float(t))
    assert [one.scores[0] for one in told.observations] == [10, 20, 30, 40, 60, 80]
    told.on_trial_end(one)
    assert told.observations[-1].scores == (100.0,)
    assert told.n_trials == told.n_scored == 1


def test_a_trial_that_a_scheduler_stopped_is_not_complete():
    for why, is_complete in ((Why("asha", 1), False), (Why("max_t", 1), True), (Why("stop", 1), True)):
        told, one = Told(to_point), trial({"x": 0.5})
        report(told, one, 1)
        one.why = why
        told.on_trial_end(one)
        assert told.observations[-1].is_complete == is_complete


def test_the_unit_of_time_does_not_matter():
    def observed(unit):
        told, one = Told(to_point), trial({"x": 0.5})
        for t in (1, 2, 3, 7, 20):
            report(told, one, t * unit)
        return told.observations

    assert observed(1) == observed(0.01) == observed(3e7)


def test_points_wait_until_they_are_observed():
    told, one = Told(to_point), trial({"x": 0.5}, 4)
    told.pending = {4: (0.5,), 3: (0.25,)}
    assert told.unobserved() == [(0.25,), (0.5,)]
    report(told, one, 1)
    assert told.unobserved() == [(0.25,)]
    assert len(told.pending) == 2


def test_a_failure_is_remembered_and_one_that_was_given_up_is_not():
    told = Told(to_point)
    told.on_trial_end(trial({"x": 0.5}, status=Status.ERROR))
    told.on_trial_end(trial({"x": 0.25}))
    assert told.observations == [Observation(0, (0.5,), ())]
    assert told.n_scored == 0


def test_one_that_failed_counts_as_failed_whatever_it_had_reported():
    told, one = Told(to_point), trial({"x": 0.5})
    report(told, one, 1, 9.0)
    one.status = Status.ERROR
    told.on_trial_end(one)
    assert told.observations[-1] == Observation(0, (0.5,), ())


def test_what_was_suggested_counts_where_the_config_was_changed_since():
    told = Told(to_point)
    told.pending[4] = (0.75,)
    told.on_trial_end(trial({}, 4, Status.ERROR))
    told.on_trial_end(trial({}, None, Status.ERROR))  # a scheduler's own, beyond the space
    assert told.observations == [Observation(0, (0.75,), ())]
    assert told.pending == {}
