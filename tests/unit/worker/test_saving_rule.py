"""When a trial is saved without being told to."""

from __future__ import annotations

from itertools import pairwise

import pytest

from overtone.worker.checkpoints.saving_rule import SavingRule


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def saves(n_steps: int, step_s: float, cost_s: float, every: int | None = None) -> tuple[list[float], float]:
    """When a trial of so many steps began to save, and how long it ran."""
    clock = Clock()
    rule = SavingRule(every, None, clock)
    began = []
    for t in range(1, n_steps + 1):
        clock.now += step_s
        if rule.is_due(t):
            began.append(round(clock.now - 100, 6))
            with rule.saving():
                clock.now += cost_s
    return began, clock.now - 100


@pytest.mark.parametrize(
    ("step_s", "cost_s", "first"),
    [
        (1, 0.1, [10, 20.1, 30.2]),  # cheap: every 10 s
        (1, 1, [10, 30, 50]),  # 19 s of work pay for 1 s
        (4, 1, [12, 33, 54]),  # at the first end of a step
        (10, 30, [10, 610, 1210]),  # 570 s would pay for 30 s
        (60, 100, [60, 760, 1460]),  # too dear: but no more than 10 minutes are lost
        (250, 100, [250, 850, 1450]),  # the end of the next step would be too late
        (700, 1, [700, 1401, 2102]),  # a step that is longer is saved each time
    ],
)
def test_automatic_saves(step_s: float, cost_s: float, first: list[float]) -> None:
    assert saves(200, step_s, cost_s)[0][:3] == first


@pytest.mark.parametrize("step_s", [0.001, 0.3, 7])
@pytest.mark.parametrize("cost_s", [0.0, 0.01, 0.4, 3, 31])
def test_saving_takes_at_most_a_twentieth_of_the_time(step_s: float, cost_s: float) -> None:
    began, _ = saves(int(3_000 / step_s) if step_s >= 0.3 else 60_000, step_s, cost_s)
    assert began[0] == pytest.approx(10, abs=step_s)
    for n, at in enumerate(began):
        assert n * cost_s <= 0.05 * at + 1e-6  # what was spent before this save
    gaps = [after - before for before, after in pairwise(began)]
    assert all(gap - cost_s <= 600 + step_s for gap in gaps)
    assert all(gap - cost_s >= 10 - 1e-6 for gap in gaps)


@pytest.mark.parametrize("step_s", [200, 300, 301, 400, 590, 700])
@pytest.mark.parametrize("cost_s", [1, 16, 31, 60, 300])
def test_long_saves_and_long_iterations_cost_more_within_a_bound(step_s: float, cost_s: float) -> None:
    began, _ = saves(100, step_s, cost_s)
    for before, after in pairwise(began):
        assert cost_s / (after - before) <= max(0.05, cost_s / (300 + cost_s)) + 1e-9
        assert after - before - cost_s <= max(600, step_s)


def test_every_so_many_iterations_and_never() -> None:
    assert saves(7, 1, 5, every=3)[0] == [3, 11]
    assert saves(2_000, 1, 0, every=0)[0] == []


def test_what_saving_takes_is_measured_anew_each_time() -> None:
    clock = Clock()
    rule = SavingRule(None, None, clock)
    for cost_s, pause_s in ((2.0, 38.0), (0.1, 10.0), (100.0, 600.0)):
        with rule.saving():
            clock.now += cost_s
        assert rule.pause_s == pytest.approx(pause_s)


def test_a_save_may_have_parts() -> None:
    clock = Clock()
    rule = SavingRule(None, None, clock)
    rule.begin()
    assert rule.has_begun
    clock.now += 1
    with rule.preparing():
        clock.now += 2
    clock.now += 50  # what the trial does before it reports is no part of it
    with rule.saving():
        clock.now += 1
    assert rule.pause_s == pytest.approx(4 * 19)
    assert not rule.has_begun


def test_a_save_that_fails_counts_too() -> None:
    clock = Clock()
    rule = SavingRule(None, None, clock)
    clock.now += 10

    def fail() -> None:
        with rule.saving():
            clock.now += 1
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    clock.now += 18
    assert not rule.is_due(2)
    clock.now += 1
    assert rule.is_due(2)


@pytest.mark.parametrize(
    ("every", "at_end", "before_s", "ran_s", "is_due"),
    [
        (None, None, 0, 9.9, False),  # a short trial does not pay for it
        (None, None, 0, 10, True),
        (None, None, 8, 2, True),  # what earlier attempts did would be lost, too
        (None, True, 0, 0, True),
        (None, False, 0, 99, False),
        (0, None, 0, 99, False),
        (5, None, 0, 99, False),
        (5, True, 0, 0, True),
    ],
)
def test_at_its_end(
    every: int | None, at_end: bool | None, before_s: float, ran_s: float, is_due: bool
) -> None:
    clock = Clock()
    rule = SavingRule(every, at_end, clock, before_s)
    clock.now += ran_s
    assert rule.is_due_at_end() is is_due


def test_nothing_is_saved_before_the_first_result_nor_once_it_is_off() -> None:
    clock = Clock()
    rule = SavingRule(None, None, clock)
    clock.now += 1_000
    assert (rule.is_due(0), rule.is_due(1)) == (False, True)
    rule.switch_off()
    assert (rule.is_due(2), rule.is_due_at_end()) == (False, False)
