"""The numbers of plots agree with those of Optuna's plots of the same trials."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from overtone.analysis.plots.contour import contour
from overtone.analysis.plots.edf import edf
from overtone.analysis.plots.hypervolume_history import hypervolume_history
from overtone.analysis.plots.importances import param_importances
from overtone.analysis.plots.intermediate_values import intermediate_values
from overtone.analysis.plots.optimization_history import optimization_history
from overtone.analysis.plots.parallel_coordinate import parallel_coordinate
from overtone.analysis.plots.pareto_front import pareto_front
from overtone.analysis.plots.rank import rank
from overtone.analysis.plots.slices import slices
from overtone.analysis.plots.steps import Steps
from overtone.analysis.plots.terminator_improvement import terminator_improvement
from overtone.analysis.plots.timeline import timeline
from overtone.reading.columns.trial_columns import Curve, TrialColumns
from overtone.testing.trial_tables import category, number, table

optuna = pytest.importorskip("optuna", minversion="5.0")
pytestmark = pytest.mark.filterwarnings(
    "ignore::optuna.exceptions.ExperimentalWarning", "ignore::FutureWarning"
)


def study_columns(study: Any, **others: Any) -> TrialColumns:
    """Return the columns of a study's trials: metrics "0", "1", ... for its objectives."""
    from optuna.distributions import CategoricalDistribution
    from optuna.trial import TrialState

    trials = study.get_trials()
    modes = ["min" if one.name == "MINIMIZE" else "max" for one in study.directions]
    metrics = {
        str(i): [one.values[i] if one.state == TrialState.COMPLETE else np.nan for one in trials]
        for i in range(len(modes))
    }
    distributions = {name: one for trial in reversed(trials) for name, one in trial.distributions.items()}
    params = {}
    for name, distribution in sorted(distributions.items()):
        values = [one.params.get(name) for one in trials]
        is_category = isinstance(distribution, CategoricalDistribution)
        params[name] = category(values, list(distribution.choices)) if is_category else number(values)
    words = {
        "COMPLETE": "TERMINATED",
        "PRUNED": "TERMINATED",
        "FAIL": "ERROR",
        "RUNNING": "RUNNING",
        "WAITING": "PENDING",
    }
    ends = {"COMPLETE": "finished", "PRUNED": "pruner", "FAIL": "failed"}

    def curve(row: int, name: str) -> Curve:
        reported = sorted(trials[row].intermediate_values.items())
        return np.array([t for t, _ in reported], np.int64), np.array([value for _, value in reported])

    facts: dict[str, Any] = {
        "goals": [(str(i), mode) for i, mode in enumerate(modes)],
        "status": category([words[one.state.name] for one in trials]),
        "end": category([ends.get(one.state.name) for one in trials]),
        "allowed": np.array([all(value <= 0 for value in one.constraints.values()) for one in trials], bool),
        "log_params": frozenset(name for name, one in distributions.items() if getattr(one, "log", False)),
        "name": study.study_name,
        "curve": curve,
    }
    return table(params, metrics, **{**facts, **others})


def a_study(n: int = 60, directions: tuple[str, ...] = ("minimize",), seed: int = 0, **parts: Any) -> Any:
    """Return a study with random trials of every state: branches, categories, logarithms, constraints."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.trial import TrialState, create_trial

    rng = np.random.default_rng(seed)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=directions, **parts)
    for i in range(n):
        space: dict[str, Any] = {
            "lr": FloatDistribution(1e-5, 1e-1, log=True),
            "layers": IntDistribution(1, 8),
            "optimizer": CategoricalDistribution(("adam", "sgd", "lion")),
            "width": CategoricalDistribution((64, 16, 32)),
        }
        # Each limit is tried: the columns do not have the space.
        at = {0: 0.0, 1: 1.0}.get(i, rng.random())
        params: dict[str, Any] = {
            "lr": [1e-5, 1e-1, 10 ** (-5 + 4 * at)][min(i, 2)],
            "layers": int(1 + round(7 * at)),
            "optimizer": ("adam", "sgd", "lion")[i % 3],
            "width": (64, 16, 32)[rng.integers(3)],
        }
        if params["optimizer"] == "sgd":
            space["momentum"] = FloatDistribution(0.0, 0.9)
            params["momentum"] = [0.0, 0.9, 0.9 * rng.random()][min(i // 3, 2)]
        state = TrialState.COMPLETE if rng.random() < 0.85 or i < 6 else TrialState.FAIL
        base = abs(math.log10(params["lr"]) + 3) + params["layers"] / 8 + (params["optimizer"] == "sgd") / 2
        values = [
            round(float(base + k * params["layers"] + rng.random() * (k + 1)), 2)
            for k in range(len(directions))
        ]
        study.add_trial(
            create_trial(
                state=state,
                values=values if state == TrialState.COMPLETE else None,
                params=params,
                distributions=space,
                intermediate_values={t: values[0] + 1 / t for t in range(1, 4)},
                constraints={"memory": float(i % 7 == 3)},
            )
        )
    return study


def values_at(steps: Steps, x: Any) -> Any:
    """Return the values of a step function at x; NaN before its first step."""
    place = np.searchsorted(steps.x, x, side="right") - 1
    return np.where(place >= 0, steps.y[place], np.nan)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_optimization_history(direction: str) -> None:
    from optuna.visualization._optimization_history import _get_optimization_history_info_list, _ValueState

    studies = [a_study(40, (direction,), 1), a_study(25, (direction,), 2)]
    expected = _get_optimization_history_info_list(studies, None, "value", False)
    history = optimization_history([study_columns(one) for one in studies])
    for theirs, ours in zip(expected, history.experiments, strict=True):
        done = [i for i, state in enumerate(theirs.values_info.states) if state != _ValueState.Incomplete]
        assert ours.points.rows.tolist() == ours.points.x.tolist() == done
        assert ours.points.y.tolist() == [theirs.values_info.values[i] for i in done]
        assert [
            _ValueState.Feasible if one else _ValueState.Infeasible for one in ours.points.is_allowed
        ] == [theirs.values_info.states[i] for i in done]
        best = np.array(theirs.best_values_info.values)
        assert values_at(ours.best, np.arange(len(best))).tolist() == pytest.approx(
            np.where(np.isfinite(best), best, np.nan).tolist(), nan_ok=True
        )

    expected = _get_optimization_history_info_list(studies, None, "value", True)[0]
    band = optimization_history([study_columns(one) for one in studies], error_bar=True).band
    assert band is not None
    assert band.x.tolist() == expected.trial_numbers
    assert band.mean == pytest.approx(expected.values_info.values)
    assert band.std == pytest.approx(expected.values_info.stds)
    assert band.best_mean == pytest.approx(expected.best_values_info.values)
    assert band.best_std == pytest.approx(expected.best_values_info.stds)


def test_intermediate_values() -> None:
    from optuna.visualization._intermediate_values import _get_intermediate_plot_info

    study = a_study(20)
    trials = list(_get_intermediate_plot_info(study).trial_infos)
    curves = intermediate_values(study_columns(study)).curves
    assert [one.row for one in curves] == [one.trial_number for one in trials]
    for theirs, ours in zip(trials, curves, strict=True):
        assert (
            list(zip(ours.t.tolist(), ours.values.tolist(), strict=True)) == theirs.sorted_intermediate_values
        )
        assert ours.is_allowed == theirs.feasible


def test_slices() -> None:
    from optuna.visualization._slice import _get_slice_plot_info

    study = a_study()
    expected = {one.param_name: one for one in _get_slice_plot_info(study, None, None, "value").subplots}
    panels = slices(study_columns(study)).panels
    assert [one.axis.name for one in panels] == list(expected)
    for ours in panels:
        theirs = expected[ours.axis.name]
        x: list[Any] = ours.points.x.tolist()
        if ours.axis.labels is not None:
            x = [ours.axis.labels[int(one)] for one in x]
        assert x == [one if theirs.is_numerical else str(one) for one in theirs.x]
        assert ours.points.y.tolist() == theirs.y
        assert ours.points.rows.tolist() == ours.points.color.tolist() == theirs.trial_numbers
        assert ours.points.is_allowed.tolist() == theirs.constraints
        assert ours.axis.is_log == theirs.is_log
        assert (ours.axis.labels is None) == theirs.is_numerical


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_contour(direction: str) -> None:
    from optuna.visualization._contour import _get_contour_info

    study = a_study(60, (direction,))
    names = ["layers", "lr", "momentum", "optimizer", "width"]
    info = _get_contour_info(study, names)
    ours = contour(study_columns(study), names)
    assert list(ours.params) == info.sorted_params
    for panel in ours.panels:
        i, j = names.index(panel.y.name), names.index(panel.x.name)
        theirs = info.sub_plot_infos[i][j]
        assert_same_axis(panel.x, theirs.xaxis)
        assert_same_axis(panel.y, theirs.yaxis)
        nodes = {(label(panel.x, x), label(panel.y, y)): value for x, y, value in panel.nodes.tolist()}
        assert nodes == {
            (theirs.xaxis.indices[a], theirs.yaxis.indices[b]): value
            for (a, b), value in theirs.z_values.items()
        }
        pairs = [
            (x, y, allowed)
            for x, y, allowed in zip(
                theirs.xaxis.values, theirs.yaxis.values, theirs.constraints, strict=True
            )
            if x is not None and y is not None
        ]
        points = zip(
            panel.points.x.tolist(), panel.points.y.tolist(), panel.points.is_allowed.tolist(), strict=True
        )
        assert [(label(panel.x, x), label(panel.y, y), allowed) for x, y, allowed in points] == pairs
        if {panel.x.name, panel.y.name} == {"momentum", "optimizer"}:
            assert panel.z.size == 0  # Only one optimizer has a momentum.
        else:
            z = panel.z[np.isfinite(panel.z)]
            assert panel.nodes[:, 2].min() <= z.min() <= z.max() <= panel.nodes[:, 2].max()


def label(axis: Any, value: float) -> Any:
    return value if axis.labels is None else axis.labels[int(value)]


def assert_same_axis(ours: Any, theirs: Any) -> None:
    assert (ours.name, ours.is_log, ours.labels is not None) == (theirs.name, theirs.is_log, theirs.is_cat)
    if ours.labels is None:
        assert (ours.low, ours.high) == pytest.approx(theirs.range)


def test_rank() -> None:
    from optuna.visualization._rank import _convert_color_idxs_to_scaled_rgb_colors, _get_rank_info

    study = a_study(50)
    info = _get_rank_info(study, ["layers", "lr", "optimizer"], None, "value")
    ours = rank(study_columns(study), ["layers", "lr", "optimizer"])
    for panel in ours.panels:
        theirs = info.sub_plot_infos[info.params.index(panel.y.name)][info.params.index(panel.x.name)]
        assert_same_axis(panel.x, theirs.xaxis)
        assert [label(panel.x, x) for x in panel.points.x.tolist()] == theirs.xs
        assert [label(panel.y, y) for y in panel.points.y.tolist()] == theirs.ys
        assert panel.points.rows.tolist() == [one.number for one in theirs.trials]
        colors = _convert_color_idxs_to_scaled_rgb_colors(panel.points.color)
        colors[~panel.points.is_allowed] = 204
        assert colors.tolist() == theirs.colors.tolist()
    assert ours.ticks == pytest.approx(np.quantile(info.zs, [0, 0.25, 0.5, 0.75, 1]))


@pytest.mark.parametrize("directions", [("minimize",), ("maximize",), ("minimize", "maximize")])
def test_parallel_coordinate(directions: tuple[str, ...]) -> None:
    from optuna.visualization._parallel_coordinate import _get_parallel_coordinate_info

    study = a_study(50, directions)
    names = [
        "layers",
        "lr",
        "momentum",
        "optimizer",
    ]  # Optuna sorts the trials by categories that are numbers.
    info = _get_parallel_coordinate_info(study, names)
    ours = parallel_coordinate(study_columns(study), names)
    order = np.argsort(ours.rows)
    theirs = [*info.dims_objectives, *info.dims_params]
    assert [one.axis.name for one in ours.dimensions[ours.n_objectives :]] == names
    assert ours.n_objectives == len(info.dims_objectives)
    for mine, other in zip(ours.dimensions, theirs, strict=True):
        values = np.array(other.values, float)
        is_missing = np.zeros(len(values), bool)
        if other.has_missing:
            is_missing = values == min(other.range)
        if other.is_log:
            values = 10**values
        assert np.isnan(mine.values[order]).tolist() == is_missing.tolist()
        if other.is_cat:
            assert [mine.axis.labels[int(one)] for one in mine.values[order]] == [
                other.ticktext[int(one)] for one in values
            ]
        else:
            assert mine.values[order][~is_missing] == pytest.approx(values[~is_missing])
        assert mine.axis.is_log == other.is_log
    assert ours.color[order] == pytest.approx(info.color_values)
    assert ours.is_allowed[order].tolist() == list(info.feasibility)


@pytest.mark.parametrize("n", [2, 3])
def test_pareto_front(n: int) -> None:
    from optuna.visualization._pareto_front import _get_pareto_front_info

    study = a_study(80, ("minimize", "maximize", "minimize")[:n])
    info = _get_pareto_front_info(study)
    ours = pareto_front(study_columns(study))
    assert sorted(ours.front_rows.tolist()) == [one.number for one, _ in info.best_trials_with_values]
    assert sorted(ours.front.tolist()) == sorted(values for _, values in info.best_trials_with_values)
    assert ours.other_rows[ours.is_allowed].tolist() == [
        one.number for one, _ in info.non_best_trials_with_values
    ]
    assert ours.others[~ours.is_allowed].tolist() == [
        values for _, values in info.infeasible_trials_with_values
    ]


def test_edf() -> None:
    from optuna.visualization._edf import _get_edf_info

    studies = [a_study(40, seed=1, study_name="a"), a_study(25, seed=2, study_name="b")]
    info = _get_edf_info(studies)
    ours = edf([study_columns(one) for one in studies])
    assert ours.x.tolist() == info.x_values.tolist()
    assert [one.y.tolist() for one in ours.lines] == [one.y_values.tolist() for one in info.lines]
    assert [one.name for one in ours.lines] == [one.study_name for one in info.lines]


def test_timeline() -> None:
    from optuna.visualization._timeline import _get_timeline_info

    study = optuna.create_study()
    for i in range(6):
        trial = study.ask()
        trial.set_constraint("memory", float(i == 2))
        if i < 4:
            study.tell(trial, float(i), state=None) if i != 1 else study.tell(
                trial, state=optuna.trial.TrialState.FAIL
            )
    info = _get_timeline_info(study)
    zero = min(one.start for one in info.bars)
    columns = study_columns(
        study,
        started=np.array([(one.datetime_start - zero).total_seconds() for one in study.trials]),
        ended=np.array(
            [
                np.nan if one.datetime_complete is None else (one.datetime_complete - zero).total_seconds()
                for one in study.trials
            ]
        ),
    )
    now = max((one.complete - zero).total_seconds() for one in info.bars)
    ours = timeline(columns, now=now)
    words = {"COMPLETE": "finished", "PRUNED": "stopped", "FAIL": "failed", "RUNNING": "running"}
    assert ours.rows.tolist() == [one.number for one in info.bars]
    assert ours.start.tolist() == [(one.start - zero).total_seconds() for one in info.bars]
    assert ours.end.tolist() == [(one.complete - zero).total_seconds() for one in info.bars]
    assert [ours.statuses[i] for i in ours.status] == [words[one.state.name] for one in info.bars]
    assert ours.is_allowed.tolist() == [not one.infeasible for one in info.bars]
    assert timeline(columns, n_recent_trials=2, now=now).rows.tolist() == [4, 5]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_hypervolume_history(n: int) -> None:
    from optuna.visualization._hypervolume_history import _get_hypervolume_history_info

    reference = [4.0, 1.0, 30.0, 40.0][:n]
    study = a_study(80, ("minimize", "maximize", "minimize", "minimize")[:n])
    info = _get_hypervolume_history_info(study, np.array(reference))
    ours = hypervolume_history(study_columns(study), reference)
    error = 1e-9 if n < 4 else 0.03  # Four and more are estimated.
    assert values_at(ours.steps, info.trial_numbers) == pytest.approx(
        info.values, abs=error * info.values[-1]
    )
    assert info.values[-1] > 0


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_terminator_improvement(direction: str) -> None:
    from optuna.terminator import BestValueStagnationEvaluator
    from optuna.visualization._terminator_improvement import _get_improvement_info

    study = optuna.create_study(direction=direction)
    done = [one for one in a_study(50, (direction,)).trials if one.value is not None]
    study.add_trials(done)
    info = _get_improvement_info(study, improvement_evaluator=BestValueStagnationEvaluator(5))
    # Optuna's evaluator does not look at constraints.
    columns = study_columns(study, allowed=np.ones(len(done), bool))
    ours = terminator_improvement(columns, evaluator="stagnation", max_stagnation_trials=5)
    assert ours.x.tolist() == info.trial_numbers
    assert ours.improvement.tolist() == info.improvements


@pytest.mark.parametrize("seed", range(50))
def test_importances(seed: int) -> None:
    """PED-ANOVA agrees where the limits of the space were tried."""
    rng = np.random.default_rng(seed)
    direction = ("minimize", "maximize")[seed % 2]
    study = a_study(int(rng.integers(20, 150)), (direction,), seed)
    theirs = optuna.importance.get_param_importances(study)
    ours = param_importances(study_columns(study), n_bootstrap=20).targets[0]
    assert dict(zip(ours.params, ours.values, strict=True)) == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    assert np.all(ours.low <= ours.values + 1e-12)
    assert np.all(ours.values <= ours.high + 1e-12)
    assert np.all(np.diff(ours.values) <= 0)


def test_importances_of_several_objectives() -> None:
    """Each objective counts in its own direction; Optuna minimizes each unless it is negated."""
    study = a_study(90, ("minimize", "maximize"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `target` is minimized
        theirs = [
            optuna.importance.get_param_importances(study, target=target)
            for target in (lambda one: one.values[0], lambda one: -one.values[1])
        ]
    ours = param_importances(study_columns(study)).targets
    assert [one.target for one in ours] == ["0", "1", "Pareto front"]
    for one, expected in zip(ours, theirs, strict=False):
        assert dict(zip(one.params, one.values, strict=True)) == pytest.approx(expected, rel=1e-6)
