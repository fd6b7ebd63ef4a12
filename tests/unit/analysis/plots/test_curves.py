from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from overtone.analysis.plots.intermediate_values import intermediate_values
from overtone.analysis.plots.learning_curves import learning_curves
from overtone.reading.columns.trial_columns import Curve, TrialColumns
from overtone.testing.trial_tables import number, table


def trials(n: int) -> TrialColumns:
    """Return trials of which the n-th has the loss n + 1 / t at each of ten iterations."""

    def curve(row: int, metric: str) -> Curve:
        t = np.arange(1, 11)
        return t, row + 1 / t

    return table({"lr": number([0.1] * n)}, {"loss": np.arange(n) + 0.1}, curve=curve)


def test_few_curves_are_all_shown_best_last() -> None:
    curves = learning_curves(trials(5))
    assert [one.row for one in curves.curves] == [4, 3, 2, 1, 0]
    assert [one.rank for one in curves.curves] == [1, 0.75, 0.5, 0.25, 0]
    assert curves.band is not None
    assert curves.band.t.tolist() == list(range(1, 11))
    assert curves.band.median == pytest.approx(2 + 1 / np.arange(1, 11))
    assert curves.band.n.tolist() == [5] * 10
    assert curves.shown.note == ""


@pytest.mark.parametrize("mode", ["min", "max"])
def test_many_curves_are_the_best_and_some_of_each_rank(mode: str) -> None:
    curves = learning_curves(trials(1_000), mode=mode, max_curves=50)
    rows = [one.row for one in curves.curves]
    assert len(rows) <= 50
    best = list(range(10)) if mode == "min" else list(range(990, 1000))
    assert sorted(rows[-curves.n_best :]) == best
    assert {0, 999} <= set(rows)
    assert np.diff(sorted(rows)).max() < 60
    assert curves.band is not None
    assert curves.band.median[-1] == pytest.approx(500, abs=20)  # not drawn to the best ones
    assert curves.shown.note == f"{len(rows)} of 1,000 trials"


def test_a_restart_takes_back_the_values_from_there_on() -> None:
    columns = trials(1)

    def curve(row: int, metric: str) -> Curve:
        return np.array([1, 2, 3, 4, 2, 3]), np.array([9.0, 8, 7, 6, 5, np.inf])

    object.__setattr__(columns, "curve", curve)
    (one,) = intermediate_values(columns).curves
    assert one.t.tolist() == [1, 2, 3]
    assert one.values.tolist() == pytest.approx([9, 5, np.nan], nan_ok=True)


def test_a_trial_that_diverged_has_a_curve_and_no_rank() -> None:
    columns = trials(3)
    loss = replace(columns.metrics["loss"], is_finite=np.array([False, True, True]))
    curves = learning_curves(replace(columns, metrics={"loss": loss}))
    assert [one.row for one in curves.curves] == [0, 2, 1]
    assert [one.rank for one in curves.curves] == pytest.approx([np.nan, 1, 0], nan_ok=True)


def test_a_bounded_number_of_curves_is_read() -> None:
    read = []

    def curve(row: int, metric: str) -> Curve:
        read.append(row)
        return np.arange(1, 100_001), np.zeros(100_000)

    columns = trials(1_000)
    object.__setattr__(columns, "curve", curve)
    curves = intermediate_values(columns, max_curves=20)
    assert len(read) == len(curves.curves) == 20
    assert read == sorted(read)
    assert sum(len(one.t) for one in curves.curves) <= 25_000
    assert (curves.shown.n_shown, curves.shown.n_all) == (20, 1_000)
