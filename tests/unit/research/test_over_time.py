from __future__ import annotations

import pandas as pd
import pytest
from numpy import nan

from overtone.research.over_time import incumbents, ranks_over_time


def search(scheduler, seed, *steps, end, problem="p", mode="min", error=""):
    facts = {
        "problem": problem, "scheduler": scheduler, "searcher": "random", "workers": "4", "seed": seed,
        "mode": mode, "error": "",
    }  # fmt: skip
    rows = [{**facts, "time_s": float(at), "value": one, "is_end": False} for at, one in steps]
    last = steps[-1][1] if steps else nan
    return [*rows, {**facts, "time_s": float(end), "value": last, "is_end": True, "error": error}]


def test_values_on_common_times():
    frame = pd.DataFrame([*search("a", 0, (1, 5.0), (10, 2.0), end=100), *search("b", 0, (10, 1.0), end=20)])
    found = incumbents(frame, points=3)
    assert found["time_s"].tolist() == pytest.approx([1, 10, 100] * 2)
    assert found["share"].tolist() == pytest.approx([0.01, 0.1, 1.0] * 2)
    assert found[found["method"] == "a"]["value"].tolist() == [5.0, 2.0, 2.0]
    b = found[found["method"] == "b"]["value"].tolist()
    assert b[0] != b[0]
    assert b[1:] == [1.0, 1.0]  # it ended at 20 and keeps its value


def test_failed_searches_and_those_without_time_are_left_out():
    frame = pd.DataFrame([*search("a", 0, end=0), *search("b", 1, end=0, error="boom")])
    assert len(incumbents(frame)) == 0
    assert len(ranks_over_time(frame)) == 0


def test_ranks_change_as_values_do_and_equal_ones_share_theirs():
    frame = pd.DataFrame(
        [*search("a", 0, (1, 5.0), (100, 3.0), end=1000), *search("b", 0, (10, 1.0), (100, 3.0), end=1000)]
    )
    found = ranks_over_time(frame, points=4)
    assert found["share"].tolist() == pytest.approx([0.001, 0.01, 0.1, 1.0] * 2)
    assert found[found["method"] == "a"]["rank"].tolist() == [1.0, 2.0, 1.5, 1.5]
    assert found[found["method"] == "b"]["rank"].tolist() == [2.0, 1.0, 1.5, 1.5]


def test_a_seed_that_not_every_method_has_is_left_out_of_ranks():
    whole = [*search("a", 0, (1, 5.0), end=10), *search("b", 0, (1, 4.0), end=10)]
    frame = pd.DataFrame([*whole, *search("a", 1, (1, 1.0), end=10)])
    assert ranks_over_time(frame, points=2).groupby("method")["rank"].last().to_dict() == {"a": 2.0, "b": 1.0}


def test_more_is_better_where_that_is_the_mode():
    frame = pd.DataFrame(
        [*search("a", 0, (1, 5.0), end=10, mode="max"), *search("b", 0, (1, 4.0), end=10, mode="max")]
    )
    assert ranks_over_time(frame, points=2).groupby("method")["rank"].last().to_dict() == {"a": 1.0, "b": 2.0}
