from __future__ import annotations

import numpy as np
import pytest

from overtone.analysis.plots.compare import compare
from overtone.analysis.plots.cost import cost
from overtone.analysis.plots.edf import edf
from overtone.analysis.plots.parallel_coordinate import parallel_coordinate
from overtone.analysis.plots.rungs import rungs
from overtone.analysis.plots.timeline import timeline
from overtone.analysis.scenes.catalogue import scene_of
from overtone.reading.columns.trial_columns import MetricColumns, TrialColumns
from overtone.testing.trial_tables import category, number, table


def trials() -> TrialColumns:
    return table(
        {"lr": number([0.1, 0.2, 0.3, 0.4, 0.5]), "momentum": number([None, 0.9, None, 0.8, 0.7])},
        {"loss": [3.0, 2.0, 5.0, 1.0, np.nan]},
        status=category(["TERMINATED", "ERROR", "HALTING", "TERMINATED", "PENDING"]),
        end=category(["finished", "failed", None, "asha", None]),
        started=np.array([0.0, 1.0, 2.0, 3.0, np.nan]),
        ended=np.array([10.0, 4.0, np.nan, 6.0, np.nan]),
        rung=np.array([9.0, 1.0, 3.0, 1.0, np.nan]),
        n_results=np.array([9, 2, 4, 3, 0], np.int32),
        name="first",
    )


def test_a_timeline_ends_now() -> None:
    times = timeline(trials())
    assert times.rows.tolist() == [0, 1, 2, 3]
    assert times.end.tolist() == [10, 4, 10, 6]
    assert [times.statuses[i] for i in times.status] == ["finished", "failed", "running", "stopped"]
    assert timeline(trials(), now=12.0).end.tolist() == [10, 4, 12, 6]


def test_a_timeline_of_many_trials_counts_the_running_ones() -> None:
    n = 10_000
    start = np.arange(n) / 10
    words = ["TERMINATED", "ERROR", "TERMINATED", "TERMINATED"] * (n // 4)
    columns = table({}, {"loss": np.ones(n)}, status=category(words), started=start, ended=start + 5)
    times = timeline(columns)
    assert times.running is not None
    assert not len(times.rows)
    total = times.running.n_running * np.diff(times.running.edges)
    assert total.sum(axis=1) == pytest.approx([5 * 7_500, 5 * 2_500])
    assert times.running.n_running[:, 100] == pytest.approx([37.5, 12.5], rel=0.05)


def test_costs_by_status_and_the_best_value_for_each() -> None:
    costs = cost(trials())
    assert costs.statuses == ("finished", "stopped", "failed", "running", "pending")
    assert costs.n_trials.tolist() == [1, 1, 1, 1, 0]
    assert costs.seconds.tolist() == [10, 3, 3, 8, 0]
    assert costs.n_results.tolist() == [9, 3, 2, 4, 0]
    # The trials end in the order 1 (3 s), 3 (3 s), 0 (10 s), 2 (8 s).
    assert (costs.by_clock.x.tolist(), costs.by_clock.y.tolist()) == ([4, 6, 10], [2, 1, 1])
    assert (costs.by_trial_time.x.tolist(), costs.by_trial_time.y.tolist()) == ([3, 6, 24], [2, 1, 1])
    assert (costs.by_results.x.tolist(), costs.by_results.y.tolist()) == ([2, 5, 18], [2, 1, 1])
    assert costs.duration_counts.sum() == 4
    assert (costs.duration_edges[0], costs.duration_edges[-1]) == (3, 10)


def test_rungs_count_the_trials_that_came_so_far() -> None:
    ladder = rungs(trials())
    assert ladder.all.levels.tolist() == [1, 3, 9]
    assert ladder.all.n_reached.tolist() == [4, 2, 1]
    assert ladder.all.n_ended.tolist() == [2, 0, 1]
    assert ladder.all.n_active.tolist() == [0, 1, 0]
    assert ladder.quantiles[0].tolist() == [1, 1.25, 1.5, 1.75, 2]
    assert ladder.n_below == 0


def test_trials_that_went_on_without_a_ruling_came_to_the_rungs_below_their_last_iteration() -> None:
    t = np.array([9, 1, 3, 9, 0])
    values = np.array([3.0, 2.0, 5.0, 1.0, np.nan])
    columns = table(
        {},
        {"loss": MetricColumns(values, values, values, t, t, t)},
        rung=np.array([np.nan, 1.0, 3.0, 1.0, np.nan]),
        n_results=t.astype(np.int32),
    )
    assert rungs(columns).all.n_reached.tolist() == [4, 3]
    # Two trials ran past the last rung: they did not end there.
    assert rungs(columns).all.n_ended.tolist() == [1, 1]
    # Seconds: what was stopped at 1 has five iterations.
    t[1] = 5
    assert rungs(columns).all.n_reached.tolist() == [3, 1]
    assert rungs(columns).n_below == 1


def test_rungs_are_counted_by_bracket() -> None:
    t = np.array([9, 1, 3, 9, 1, 2])
    values = np.array([3.0, 2.0, 5.0, 1.0, 4.0, 6.0])
    columns = table(
        {},
        {"loss": MetricColumns(values, values, values, t, t, t)},
        rung=np.array([1.0, 1.0, 3.0, 3.0, 1.0, np.nan]),
        bracket=np.array([1, 1, 2, 2, 1, 0], np.int32),
        n_results=t.astype(np.int32),
    )
    ladder = rungs(columns)
    first, second = ladder.brackets
    assert (first.bracket, first.levels.tolist(), first.n_reached.tolist()) == (1, [1], [3])
    assert (second.bracket, second.levels.tolist(), second.n_reached.tolist()) == (2, [3], [2])
    assert (first.n_ended.tolist(), second.n_ended.tolist()) == ([2], [1])
    assert (ladder.n_brackets, ladder.n_unknown) == (2, 1)
    assert ladder.all.n_reached.tolist() == [6, 2]
    titles = [panel.title for panel in scene_of("rungs", [columns]).panels]
    assert titles == [
        "Trials of bracket 1 that reached each rung",
        "Trials of bracket 2 that reached each rung",
        "Values of trials by their highest rung",
    ]


def test_the_trials_of_many_brackets_are_counted_together() -> None:
    columns = table({}, {"loss": np.arange(20.0)}, rung=np.ones(20), bracket=np.arange(1, 21, dtype=np.int32))
    assert (rungs(columns).brackets, rungs(columns).n_brackets) == ((), 20)
    scene = scene_of("rungs", [columns])
    assert scene.panels[0].title == "Trials that reached each rung"
    assert scene.note == "The trials of 20 brackets are counted together."


def test_experiments_are_compared_by_their_best_trials() -> None:
    other = table({"lr": number([0.4, 0.4])}, {"loss": [4.0, 0.5]}, name="first")
    both = compare([trials(), other])
    first, second = both.experiments
    assert (first.name, second.name) == ("first", "first (2)")
    assert (first.best, first.best_row, first.n_trials, first.n_values) == (1.0, 3, 5, 4)
    assert first.best_params == {"lr": 0.4, "momentum": 0.8}
    assert first.quantiles.tolist() == [1, 1.75, 2.5, 3.5, 5]
    assert (first.seconds, first.clock) == (24, 10)
    assert (first.by_trial.x.tolist(), first.by_trial.y.tolist()) == ([0, 1, 3, 4], [3, 2, 1, 1])
    assert (second.best, second.best_row) == (0.5, 1)
    assert both.differing_params == ("momentum",)


def test_experiments_with_opposite_modes_are_not_compared() -> None:
    other = table({"lr": number([0.4])}, {"loss": [4.0]}, goals=[("loss", "max")])
    with pytest.raises(ValueError, match="differ in the mode of 'loss'"):
        compare([trials(), other])
    assert compare([trials(), other], mode="max").experiments[1].best == 4.0


def test_losses_of_many_decades_have_logarithmic_axes_everywhere() -> None:
    columns = table({}, {"loss": [1e10, 10.0, 0.1]}, rung=np.array([1.0, 1.0, 1.0]))
    assert rungs(columns).y.is_log
    assert cost(columns).y.is_log
    assert compare(columns).y.is_log
    assert compare(columns).best_y.is_log
    spread = edf(columns)
    assert spread.axis.is_log
    assert (spread.x[0], spread.x[-1]) == (0.1, 1e10)
    assert spread.lines[0].y[50] == pytest.approx(2 / 3)
    assert parallel_coordinate(columns).dimensions[0].axis.is_log
