"""Small functions that scripts import from tune.utils.util."""

import io
import re
import threading
import time

import pytest

from overtone.tune.utils import log
from overtone.tune.utils.util import (
    Tee,
    UtilMonitor,
    date_str,
    is_nan_or_inf,
    retry_fn,
    validate_warmstart,
    warn_if_slow,
)


def test_a_function_is_called_until_it_returns(caplog):
    calls = []

    def fails_once():
        calls.append(1)
        if len(calls) == 1:
            raise OSError("not yet")

    assert retry_fn(fails_once, OSError, sleep_time=0)
    assert len(calls) == 2
    assert "OSError: not yet" in caplog.text


def test_a_function_that_never_returns_is_given_up():
    calls, release = [], threading.Event()

    def hangs():
        calls.append(1)
        release.wait()

    assert not retry_fn(hangs, num_retries=2, sleep_time=0, timeout=0.01)
    give_up_at = time.monotonic() + 60
    while len(calls) < 2:  # a thread may begin after its time
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    release.set()

    def fails():
        raise ValueError

    assert not retry_fn(fails, (OSError, ValueError), num_retries=2, sleep_time=0)


def test_a_slow_block_is_told(caplog):
    with warn_if_slow("load", threshold=1e-9) as slow:
        pass
    assert slow.too_slow
    assert "load took" in caplog.text
    with warn_if_slow("load") as quick:
        pass
    with warn_if_slow("load", threshold=1e-9, disable=True) as silent:
        pass
    assert not quick.too_slow
    assert not silent.too_slow


def test_a_tee_writes_to_both_and_leaves_out_a_closed_one():
    one, other = io.StringIO(), io.StringIO()
    tee = Tee(one, other)
    tee.write("a")
    tee.flush()
    assert one.getvalue() == other.getvalue() == "a"
    one.close()
    tee.write("b")
    assert other.getvalue() == "ab"


def test_dates_and_numbers():
    assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", date_str())
    assert [is_nan_or_inf(one) for one in (float("nan"), float("-inf"), 1, "a")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("points", "rewards", "says"),
    [
        ({"a": 1}, None, "must be a list"),
        ([3], None, r"points_to_evaluate\[0\]=3 must be a dict or a list"),
        ([{"a": 1, "b": 2}], None, "must have 1 values: a"),
        ([{"a": 1}], 3.0, "evaluated_rewards=3.0 must be a list"),
        ([{"a": 1}], [1, 2], "2 values for 1 points"),
    ],
)
def test_wrong_points_are_refused(points, rewards, says):
    with pytest.raises((TypeError, ValueError), match=says):
        validate_warmstart(["a"], points, rewards)


def test_right_points_are_taken():
    validate_warmstart(["a"], [{"a": 1}, [2]], [0.5, 0.25])
    validate_warmstart(["a"], [{"a": 1, "b": 2}], None, validate_point_name_lengths=False)
    validate_warmstart(["a"], None, None)


def test_the_use_of_the_machine_is_sampled():
    monitor = UtilMonitor(start=False)
    assert monitor.get_data() == {}
    monitor._sample()
    monitor.delay = 60
    monitor.start()
    perf = monitor.get_data()["perf"]
    assert {"cpu_util_percent", "ram_util_percent"} <= perf.keys()
    monitor.stop()
    monitor.join()
    assert monitor.get_data() == {}


def test_a_level_of_output_can_be_set():
    log.set_verbosity(1)
    assert log.has_verbosity(log.Verbosity.V1_EXPERIMENT)
    assert not log.has_verbosity(2)
    log.set_verbosity(log.Verbosity.V3_TRIAL_DETAILS)
    assert log.has_verbosity(2)
