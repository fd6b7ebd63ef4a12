from __future__ import annotations

import math

from overtone.core.messages import Ended, Record, Reported, Started
from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.research.trace import AtTarget, Better, Trace


def told(*events, mode="min"):
    trace = Trace("loss", mode)
    for n, event in enumerate(events):
        trace.on_record(Record(n, event))
    return trace


def reported(time, loss, trial="a"):
    return Reported(time, trial, 0, 1, {"loss": loss} if loss is not None else {"other": 1})


def test_each_better_value_is_kept_with_what_it_took():
    trace = told(
        Started(0.0, "a", 0, "node", 1), reported(1.0, 0.5), reported(2.0, 0.5), Started(2.0, "b", 0, "node", 1),
        Started(2.5, "b", 1, "node", 1), reported(3.0, 0.4, "b"), reported(4.0, 0.9),
    )  # fmt: skip
    assert trace.steps == [Better(1.0, 0.5, 1, 1), Better(3.0, 0.4, 2, 3)]
    assert (trace.n_trials, trace.n_results, trace.time_s) == (2, 4, 4.0)


def test_more_is_better_where_that_is_the_mode():
    assert [one.value for one in told(reported(1, 0.5), reported(2, 0.4), reported(3, 0.6), mode="max").steps] == [
        0.5, 0.6,
    ]  # fmt: skip


def test_nan_a_missing_metric_and_text_are_never_better():
    trace = told(reported(1, math.nan), reported(2, None), reported(3, "0.1"), reported(4, 7.0))
    assert trace.steps == [Better(4, 7.0, 0, 4)]


def test_where_nothing_was_found_the_first_error_says_why():
    failed = Ended(1.0, "a", 0, "raised", "RuntimeError: no such data")
    assert told(failed).trouble() == "no result has 'loss' as a number: RuntimeError: no such data"
    assert told(reported(1, None)).trouble() == "no result has 'loss' as a number"
    for fine in ([], [failed, reported(2, 0.5)], [failed, reported(2, math.nan)]):
        assert told(*fine).trouble() == ""


def test_a_search_ends_at_its_target_and_not_before():
    trial = Trial("a", 0, {}, Resources.of({"cpu": 1}))
    stop = AtTarget(0.3, "min")
    for score in (-0.5, float("-inf")):
        assert stop(trial, Result(1, score, (score,), (), {})) is None
        assert stop.stop_all() is None
    assert stop(trial, Result(1, -0.3, (-0.3,), (), {})) is None  # the search ends, not this trial
    assert stop.stop_all() == "a value as good as 0.3 was found"
