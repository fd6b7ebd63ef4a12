"""Plots of experiments, by Optuna's names where Optuna has the same plot.

Each function returns a `plotly.graph_objects.Figure`, or with `backend="matplotlib"` a
`matplotlib.figure.Figure`. Beyond 5,000 marks a plot shows densities or a selection, and its title says so.

The arguments that plots share:

- `experiment`: An `ExperimentAnalysis`, a `ResultGrid`, a run, or the path of an experiment. `experiments`
  may also be a sequence of experiments.
- `metric`, `mode`: The metric, and "min" or "max"; by default the experiment's first objective.
- `target`: A metric, or a function from a trial to a number, in place of `metric`. `target_name` is the name
  of such a function's values.
- `params`: The names of hyperparameters; by default all.
- `scope`: "last", a trial's last value, or "all", its best value on the way.
- `backend`: "plotly" or "matplotlib"; by default the first one that is installed: `pip install
  "overtone[plot]"`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overtone.analysis.drawn_plot import drawn_plot

Target = Callable[[Any], float] | str | None


def plot_optimization_history(
    experiments: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    error_bar: bool = False,
    backend: str | None = None,
) -> Any:
    """Plot the value of each trial, and the best value so far.

    See `tune.plots` for the other arguments.

    Args:
        error_bar: Whether to show mean and standard deviation of several experiments instead.
    """
    return drawn_plot("optimization_history", **locals())


def plot_intermediate_values(
    experiment: Any, *, metric: str | None = None, max_curves: int = 200, backend: str | None = None
) -> Any:
    """Plot the values that each trial reported, coloured by the trial's rank.

    See `tune.plots` for the other arguments.

    Args:
        max_curves: The maximum number of trials.
    """
    return drawn_plot("intermediate_values", **locals())


def plot_learning_curves(
    experiment: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    max_curves: int = 100,
    backend: str | None = None,
) -> Any:
    """Plot the curves of the best trials over the spread of the others.

    See `tune.plots` for the other arguments.

    Args:
        max_curves: The maximum number of trials.
    """
    return drawn_plot("learning_curves", **locals())


def plot_slice(
    experiment: Any,
    params: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    mode: str | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot the value of each trial over each hyperparameter.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("slice", **locals())


def plot_contour(
    experiment: Any,
    params: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    mode: str | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot the smoothed value over each pair of hyperparameters.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("contour", **locals())


def plot_rank(
    experiment: Any,
    params: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    mode: str | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot each pair of hyperparameters, with the ranks of the trials as colours.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("rank", **locals())


def plot_parallel_coordinate(
    experiment: Any,
    params: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    mode: str | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot each trial as a line over the axes of objectives and hyperparameters.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("parallel_coordinate", **locals())


def plot_param_importances(
    experiment: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    params: Sequence[str] | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    n_bootstrap: int = 100,
    quantile: float = 0.1,
    backend: str | None = None,
) -> Any:
    """Plot the importance of each hyperparameter (PED-ANOVA), with its bootstrap interval.

    See `tune.plots` for the other arguments.

    Args:
        n_bootstrap: The number of bootstrap samples; 0 for none.
        quantile: The share of the trials that are the best ones, above 0 and below 1.
    """
    return drawn_plot("param_importances", **locals())


def plot_pareto_front(
    experiment: Any,
    *,
    goals: Sequence[tuple[str, str]] | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot the trials in the space of two or three objectives, and their Pareto front.

    See `tune.plots` for the other arguments.

    Args:
        goals: (metric, mode) of each objective; by default the experiment's.
    """
    return drawn_plot("pareto_front", **locals())


def plot_hypervolume_history(
    experiment: Any,
    *,
    reference_point: Sequence[float] | None = None,
    goals: Sequence[tuple[str, str]] | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot the hypervolume of the Pareto front over the number of trials.

    See `tune.plots` for the other arguments.

    Args:
        reference_point: A value of each objective that good trials are better than; by default the worst.
        goals: (metric, mode) of each objective; by default the experiment's.
    """
    return drawn_plot("hypervolume_history", **locals())


def plot_edf(
    experiments: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    target: Target = None,
    target_name: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot the share of trials whose value is at most x, for each x.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("edf", **locals())


def plot_timeline(experiment: Any, *, n_recent_trials: int | None = None, backend: str | None = None) -> Any:
    """Plot when each trial ran.

    See `tune.plots` for the other arguments.

    Args:
        n_recent_trials: Show this number of the newest trials alone.
    """
    return drawn_plot("timeline", **locals())


def plot_terminator_improvement(
    experiment: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    scope: str = "last",
    evaluator: str = "doubling",
    error: float | None = None,
    min_n_trials: int = 20,
    backend: str | None = None,
) -> Any:
    """Plot the improvement that was to be expected of further trials.

    See `tune.plots` for the other arguments.

    Args:
        evaluator: "doubling" or "stagnation".
        error: The improvement that is not worth a trial.
        min_n_trials: Improvements of fewer trials are shown as uncertain.
    """
    return drawn_plot("terminator_improvement", **locals())


def plot_rungs(
    experiment: Any, *, metric: str | None = None, mode: str | None = None, backend: str | None = None
) -> Any:
    """Plot how many trials reached each rung of the scheduler, and their values there.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("rungs", **locals())


def plot_lineage(
    experiment: Any, *, metric: str | None = None, mode: str | None = None, backend: str | None = None
) -> Any:
    """Plot which trial went on from which, and the hyperparameters that changed.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("lineage", **locals())


def plot_cost(
    experiment: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot the best value over what was spent, and where the time went.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("cost", **locals())


def plot_compare(
    experiments: Any,
    *,
    metric: str | None = None,
    mode: str | None = None,
    scope: str = "last",
    backend: str | None = None,
) -> Any:
    """Plot experiments side by side: the best value so far, and the spread of values.

    See `tune.plots` for the arguments.
    """
    return drawn_plot("compare", **locals())
