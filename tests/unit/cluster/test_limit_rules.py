"""When a cluster ends by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st

from overtone.cluster.config import Limits
from overtone.cluster.limit_rules import END, SAVE_S, STAY, WARN, WARN_S, Facts, decide

seconds = st.floats(0, 1e6)
dollars = st.floats(0, 1e4)
limits = st.builds(
    Limits,
    cluster_idle_s=st.floats(1, 1e5),
    hours=st.none() | st.floats(0.01, 100),
    price=st.none() | st.floats(0.01, 1e4),
)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[float, Facts]:
    now = draw(seconds)
    busy = ("run x",) if draw(st.booleans()) else ()
    busy_at = now if busy else draw(st.floats(0, now))
    return now, Facts(busy, busy_at, draw(dollars), draw(dollars))


@given(clusters(), limits)
def test_it_ends_at_each_limit_and_never_before(cluster: tuple[float, Facts], given_limits: Limits) -> None:
    now, facts = cluster
    verdict = decide(now, facts, given_limits)
    is_idle = not facts.busy and now - facts.busy_at >= given_limits.cluster_idle_s
    is_old = given_limits.hours is not None and now >= 3600 * given_limits.hours
    is_dear = given_limits.price is not None and facts.cost >= given_limits.price
    if is_idle or is_old or is_dear:
        assert verdict.action == END
    elif verdict.action == END:
        in_s = SAVE_S + 1e-6 * now  # a minute is left to save
        hours, price = given_limits.hours, given_limits.price
        assert (hours is not None and now + in_s >= 3600 * hours) or (
            price is not None and facts.cost + facts.cost_an_hour * in_s / 3600 >= price * (1 - 1e-9)
        )


@given(clusters(), limits)
def test_the_end_comes_when_it_was_announced(cluster: tuple[float, Facts], given_limits: Limits) -> None:
    now, facts = cluster
    verdict = decide(now, facts, given_limits)
    assert (verdict.action == WARN) == (0 < verdict.in_s <= WARN_S)
    assert (verdict.action == END) == (verdict.in_s == 0)
    if verdict.in_s in (0, float("inf")):
        return
    then = now + verdict.in_s * (1 + 1e-6) + 1e-3
    paid = facts.cost + facts.cost_an_hour * (then - now) / 3600
    assert decide(then, replace(facts, cost=paid), given_limits).action == END


@given(seconds, dollars, st.floats(1, 1e5))
def test_a_busy_cluster_without_other_limits_stays(now: float, cost: float, idle_s: float) -> None:
    facts = Facts(("run x",), now, cost, cost)
    assert decide(now, facts, Limits(idle_s, None, None)).action == STAY


def test_the_first_limit_is_the_reason() -> None:
    facts = Facts((), busy_at=0.0, cost=19.99, cost_an_hour=20.0)
    verdict = decide(800.0, facts, Limits(900.0, 12.0, 20.0))
    assert (verdict.action, verdict.reason) == (END, "its limit of $20")
    assert decide(900.0, Facts(), Limits(900.0, 12.0, 20.0)).reason == "idle for 15m"
    assert decide(12 * 3600 - 60.0, Facts(("run x",), 43140.0), Limits()).reason == "its limit of 12 hours"


def test_a_cluster_of_a_few_minutes_is_not_ended_at_once() -> None:
    assert decide(5.0, Facts(("run x",), 5.0), Limits(900.0, hours=0.01)).action == WARN
