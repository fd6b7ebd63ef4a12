"""What a run tells the others is read as it was told, and nothing else is taken from them."""

from __future__ import annotations

import json

import pytest

from overtone.core.resources import Resources
from overtone.engines.ray.run_claims import MOST_OF_A_SHAPE, NOTHING_YET, Claim, claim_of, within

CPU = Resources.of({"cpu": 1})
GPU = Resources.of({"cpu": 1, "gpu": 1})
GANG = Resources.of([{}, {"cpu": 2}, {"cpu": 2}], "STRICT_SPREAD")


def test_what_is_told_is_read() -> None:
    held = {(CPU, ("a",)): 2, (GANG, ("", "a", "b")): 1}
    told = Claim("x", 5.0, 1.5, 12.25, held, [(GPU, 3), (CPU, 1)], frozenset({"c"}))
    assert claim_of("x", told.text()) == told
    assert claim_of("x", Claim("x").text()) == Claim("x", wanted=[])
    assert Claim("x").spent == NOTHING_YET


def test_what_is_held_is_counted_by_shape_and_by_node() -> None:
    claim = Claim("x", held={(CPU, ("a",)): 2, (CPU, ("b",)): 1, (GANG, ("", "a", "b")): 1})
    assert claim.holds() == {CPU: 3, GANG: 1}
    assert claim.by_node() == {"a": {"cpu": 4.0}, "b": {"cpu": 3.0}}


@pytest.mark.parametrize(
    ("change"),
    [
        {"priority": "high"},
        {"shapes": [[[{"cpu": -1}], "PACK"]]},
        {"shapes": [[[{"cpu": 1}], "ANYHOW"]]},
        {"held": [[9, ["a"], 1]]},
        {"held": [[0, ["a", "b"], 1]]},
        {"wanted": [[0]]},
        {"barred": None},
    ],
)
def test_what_cannot_be_read_is_passed_over(change: dict[str, object]) -> None:
    told = json.loads(Claim("x", held={(CPU, ("a",)): 1}, wanted=[(CPU, 1)]).text())
    assert claim_of("x", json.dumps(told)) is not None
    assert claim_of("x", json.dumps({**told, **change})) is None
    assert claim_of("x", "{]") is None


def test_nobody_claims_more_than_there_may_be() -> None:
    claim = claim_of("x", Claim("x", wanted=[(CPU, 10**9)]).text())
    assert claim is not None
    assert list(claim.wanted) == [(CPU, MOST_OF_A_SHAPE)]


def test_a_run_waits_for_no_more_than_it_may_hold() -> None:
    assert within({GPU: 9}, {"gpu": 4.0}, {"gpu": 1.0}) == [(GPU, 3)]
    assert within({GPU: 9}, {"gpu": 4.0}, {"gpu": 4.0}) == []
    assert within({CPU: 1000}, {"gpu": 4.0}, {}) == [(CPU, MOST_OF_A_SHAPE)]
    assert within({Resources.of({}): 3}, {}, {}) == []
