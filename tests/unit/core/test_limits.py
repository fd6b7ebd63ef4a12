from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from overtone.core.limits import TrialLimits


def test_limits_as_users_write_them() -> None:
    found = TrialLimits.of({"time_s": 60, "cpu_s": timedelta(minutes=2), "memory": "2GB"})
    assert found == TrialLimits(60.0, 120.0, 2e9)
    assert found.as_data() == {"time_s": 60.0, "cpu_s": 120.0, "memory": 2e9}
    assert TrialLimits.of(found.as_data()) == found
    assert TrialLimits.of(found) == found


@pytest.mark.parametrize("asked", [None, {}, {"time_s": None}, TrialLimits()])
def test_no_limits(asked: Any) -> None:
    assert TrialLimits.of(asked) is None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"times": 3}, r"trial_limits has no limit 'times': there are time_s, cpu_s, memory"),
        ({"time_s": 0}, r"trial_limits\['time_s'\]=0: give a positive number of seconds"),
        ({"time_s": "60"}, r"trial_limits\['time_s'\]='60': give a positive number of seconds"),
        ({"cpu_s": True}, "give a positive number of seconds"),
        ({"cpu_s": float("nan")}, "give a positive number of seconds"),
        ({"memory": "much"}, r"""trial_limits\['memory'\]='much': .* bytes, such as "2GB\""""),
        ({"memory": -1}, "positive number of bytes"),
        (60, r"trial_limits=60 must look like"),
    ],
)
def test_limits_that_are_none(asked: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrialLimits.of(asked)
