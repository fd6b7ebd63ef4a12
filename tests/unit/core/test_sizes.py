from __future__ import annotations

import json
from typing import Any

import pytest

from overtone.core.goal import MOST_LISTED, Goal
from overtone.core.sizes import LONGEST_LINE, estimate_json_bytes, shorten
from overtone.errors import GoalError


def test_a_text_keeps_both_ends() -> None:
    assert shorten("abc", 3) == "abc"
    text = shorten("a" * 50 + "b" * 50, 10)
    assert text == "aaaaa\n[... 90 characters are left out ...]\nbbbbb"


@pytest.mark.parametrize("value", [
    {"a": 1, "b": [0.5, None, True], "c": "x" * 5000}, {"text": "\u20ac\n\U0001f600" * 2000}, [10**500] * 100,
    {"deep": {"deep": [{"deep": "y" * 100}] * 100}},
])  # fmt: skip
def test_the_estimate_is_near(value: Any) -> None:
    exact = len(json.dumps(value, separators=(",", ":")))
    assert 0.9 * exact <= estimate_json_bytes(value) <= 1.3 * exact + 100


def test_a_list_that_contains_itself_ends() -> None:
    value: list[Any] = [1]
    value.append(value)
    assert estimate_json_bytes([value] * 1000) >= LONGEST_LINE


def test_an_error_lists_some_of_many_names() -> None:
    metrics = {f"m{i}": 1.0 for i in range(100_000)} | {"x" * 100_000: 1.0}
    [doubt] = Goal("loss", "min").doubts(metrics)
    assert f"and {100_001 - MOST_LISTED} more" in doubt
    assert len(doubt) < 5000
    with pytest.raises(GoalError, match=f"and {100_001 - MOST_LISTED} more") as caught:
        Goal(is_needed=True).infer(metrics)
    assert len(str(caught.value)) < 5000
