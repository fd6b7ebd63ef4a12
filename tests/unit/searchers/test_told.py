"""What is remembered of trials."""

from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.core.types import Result
from overtone.errors import SpaceError
from overtone.searchers.told import Outcome, Told


def to_point(config):
    if "x" not in config:
        raise SpaceError("no x")
    return [config["x"]]


def trial(config, suggestion=None, status=Status.TERMINATED):
    return Trial("t", 0, config, Resources.of({"cpu": 1}), status, suggestion=suggestion)


def test_the_last_result_counts_with_its_time():
    told, one = Told(to_point), trial({"x": 0.5})
    told.on_result(one, Result(1, 9.0, (9.0,), (), {"time_total_s": 1.0}))
    told.on_result(one, Result(2, 3.0, (3.0,), (0.5,), {"time_total_s": 2.0}))
    told.on_result(one, Result(3, 0.0, ()))  # without the metric
    told.on_trial_end(one)
    assert told.outcomes == [Outcome((0.5,), (3.0,), (0.5,), 2.0)]


def test_a_failure_is_remembered_and_one_that_was_given_up_is_not():
    told = Told(to_point)
    told.on_trial_end(trial({"x": 0.5}, status=Status.ERROR))
    told.on_trial_end(trial({"x": 0.25}))
    assert told.outcomes == [Outcome((0.5,), ())]


def test_one_that_failed_counts_as_failed_whatever_it_had_reported():
    told, one = Told(to_point), trial({"x": 0.5})
    told.on_result(one, Result(1, 9.0, (9.0,), (), {}))
    one.status = Status.ERROR
    told.on_trial_end(one)
    assert told.outcomes == [Outcome((0.5,), ())]


def test_what_was_suggested_counts_where_the_config_was_changed_since():
    told = Told(to_point)
    told.pending[4] = (0.75,)
    told.on_trial_end(trial({}, 4, Status.ERROR))
    told.on_trial_end(trial({}, None, Status.ERROR))  # a scheduler's own, beyond the space
    assert told.outcomes == [Outcome((0.75,), ())]
    assert told.pending == {}
