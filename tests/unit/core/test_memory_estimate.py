"""What one more trial reserves of a GPU's memory, given the needs of earlier ones."""

from __future__ import annotations

import runpy
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.core.memory_estimate import HEADROOM, MemoryEstimate
from overtone.testing.packed_gpus import PackedGpus

BENCHMARK = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks/gpu_packing.py"))


def estimate(*peaks: float, size: float = 8.0, most: int = 4) -> MemoryEstimate:
    made = MemoryEstimate()
    for number, peak in enumerate(peaks):
        made.add_peak(str(number), peak)
        made.update(size, most)
    return made


def test_a_first_peak_has_headroom() -> None:
    assert estimate(2.0).amount == pytest.approx(2.0 * HEADROOM)


def test_the_headroom_shrinks_only_if_more_trials_can_share() -> None:
    assert estimate(2.5).amount == pytest.approx(2.875)  # two share
    assert estimate(*[2.5] * 3).amount == pytest.approx(2.875)
    assert estimate(*[2.5] * 4).amount == pytest.approx(2.5 * 1.06)  # three share


def test_a_rare_large_trial_does_not_raise_the_estimate() -> None:
    made = estimate(*[2.0] * 9, 7.0)
    assert made.amount == pytest.approx(2.0 * HEADROOM)


def test_large_trials_that_are_frequent_raise_it() -> None:
    assert estimate(2.0, *[3.9] * 9).amount >= 3.9


def test_a_peak_replaces_the_guess_of_the_same_trial() -> None:
    made = estimate(1.9)
    for trial in ("1", "2"):
        made.add_guess(trial, 3.9)
    assert made.update(8.0, 4)
    assert made.amount == 3.9
    for trial in ("1", "2"):
        made.add_peak(trial, 2.0)
    assert made.update(8.0, 4)
    assert made.amount == pytest.approx(2.0 * 1.075)


@given(st.lists(st.floats(0.1, 8), min_size=1, max_size=30), st.integers(1, 10))
def test_what_is_reserved_was_needed_by_a_trial(peaks: list[float], most: int) -> None:
    amount = estimate(*peaks, most=most).amount
    assert min(peaks) <= amount <= HEADROOM * max(peaks) + 1e-9


@given(st.lists(st.floats(0.1, 3.4), min_size=1, max_size=1), st.integers(2, 50))
def test_equal_trials_never_run_out(peaks: list[float], n: int) -> None:
    assert estimate(*peaks * n).amount >= peaks[0]


@pytest.mark.parametrize("way", ["auto", "by size"])
def test_a_mixture_takes_less_than_half_of_the_time(way: str) -> None:
    """40 trials of 1.5 to 3 GB on 8 GB; the benchmark states the figures."""
    ratios = []
    for draw in range(9):
        configs = BENCHMARK["trials"](draw)
        alone, shared = (PackedGpus([8.0], BENCHMARK["WAYS"][one], configs) for one in ("one a GPU", way))
        ratios.append(1 / alone.run() * shared.run())
        assert max(shared.excesses.values(), default=0) <= 2
    assert median(ratios) <= 0.45
