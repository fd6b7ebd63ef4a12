from __future__ import annotations

import math

import pandas as pd
import pytest

from overtone.errors import OvertoneError
from overtone.research.search_outcomes import bests, labelled, medians, outcomes, speedups


def search(scheduler, seed, *steps, end, problem="p", mode="min", target=1.0, error="", workers="4"):
    """The rows of one search: (time, value) steps and its end."""
    facts = {
        "problem": problem, "family": "", "scheduler": scheduler, "searcher": "random", "workers": workers,
        "seed": seed, "metric": "loss", "mode": mode, "target": target, "error": "", "cost": 0.0, "lost_s": 0.0,
        "trial_s": 1.0, "n_trials": 1, "n_results": len(steps),
    }  # fmt: skip
    value = steps[-1][1] if steps else math.nan
    rows = [{**facts, "time_s": at, "value": one, "is_end": False} for at, one in steps]
    return [*rows, {**facts, "time_s": end, "value": value, "is_end": True, "error": error}]


FRAME = pd.DataFrame(
    [
        *search("slow", 0, (1, 5.0), (8, 1.0), (9, 0.5), end=10),
        *search("slow", 1, (1, 4.0), (4, 0.9), end=10),
        *search("fast", 0, (1, 5.0), (2, 0.5), end=10),
        *search("fast", 1, (1, 4.0), (4, 0.8), end=10),
        *search("lost", 0, (1, 5.0), (3, 2.0), end=12),
        *search("lost", 1, (1, 5.0), end=12),
    ]
)


def test_when_each_search_reached_its_target():
    ends = outcomes(FRAME)
    assert ends[["method", "reached_s", "is_reached"]].values.tolist() == [
        ["slow", 8, True], ["slow", 4, True], ["fast", 2, True], ["fast", 4, True], ["lost", 12, False],
        ["lost", 12, False],
    ]  # fmt: skip


def test_another_target_may_be_asked_for():
    assert outcomes(FRAME, 2.0)["is_reached"].tolist() == [True] * 5 + [False]
    assert outcomes(FRAME, {"p": 0.5})["reached_s"].tolist() == [9, 10, 2, 10, 12, 12]


def test_medians_and_ratios():
    assert medians(FRAME).to_dict("index") == {"p": {"slow": 6.0, "fast": 3.0, "lost": math.inf}}
    # the ends of what was not reached stand for it: "lost" is at most half as fast
    assert speedups(FRAME, "slow").to_dict("index") == {"p": {"slow": 1.0, "fast": 2.0, "lost": 0.5}}
    with pytest.raises(ValueError, match="baseline='other': choose one of 'slow', 'fast', 'lost'"):
        speedups(FRAME, "other")


def test_no_ratio_where_neither_was_reached():
    found = speedups(FRAME, "lost", 0.0001)
    assert found.isna().all(axis=None)


def test_more_is_better_where_that_is_the_mode():
    up = pd.DataFrame(search("a", 0, (1, 0.5), (3, 0.7), end=9, mode="max", target=0.6))
    assert outcomes(up)["reached_s"].tolist() == [3]


def test_searches_that_failed_are_left_out():
    frame = pd.DataFrame([*search("a", 0, (1, 0.5), end=2), *search("b", 0, end=0, error="boom")])
    assert outcomes(frame)["method"].tolist() == ["a"]
    assert bests(frame).to_dict("index") == {"p": {"a": 0.5}}


def test_methods_and_settings_say_no_more_than_is_needed():
    assert set(labelled(FRAME)["method"]) == {"slow", "fast", "lost"}
    both = FRAME.copy()
    both.loc[both["seed"] == 1, "searcher"] = "grid"
    both.loc[both["seed"] == 1, "workers"] = "8"
    assert set(labelled(both)["method"]) >= {"slow + random", "slow + grid"}
    assert set(labelled(both)["setting"]) == {"p, 4 workers", "p, 8 workers"}


def test_what_is_no_frame_of_a_comparison_is_refused():
    with pytest.raises(OvertoneError, match="no column 'searcher'"):
        outcomes(FRAME.drop(columns="searcher"))
    with pytest.raises(OvertoneError, match="no search has ended"):
        outcomes(FRAME.iloc[:0])
