"""Every plot's numbers for experiments that are empty, tiny, huge, or unlike any other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from overtone.analysis.plots.axis import Axis
from overtone.analysis.plots.learning_curves import LearningCurve
from overtone.analysis.plots.lineage import ConfigChange
from overtone.analysis.plots.points import Points
from overtone.analysis.plots.shown import Shown
from overtone.analysis.plots.steps import Steps
from overtone.reading.columns.trial_columns import Column, Curve, TrialColumns
from overtone.testing.trial_tables import category, metric_columns, number, table

PLOTS = [
    "optimization_history",
    "intermediate_values",
    "slices",
    "contour",
    "parallel_coordinate",
    "importances.param_importances",
    "pareto_front",
    "edf",
    "rank",
    "timeline",
    "hypervolume_history",
    "terminator_improvement",
    "learning_curves",
    "rungs",
    "lineage",
    "cost",
    "compare",
]
MOST_NUMBERS = 400_000  # About 4 MB of text.


def function(name: str) -> Callable[..., Any]:
    module, _, called = name.partition(".")
    found: Callable[..., Any] = getattr(import_module(f"overtone.analysis.plots.{module}"), called or module)
    return found


def trials(n: int, seed: int = 0, **others: Any) -> TrialColumns:
    """Return trials with numbers, logarithms, categories, branches, rungs and clones; two objectives."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.uniform(0, 100, n))
    size = np.array([16.0, 32.0, 64.0])
    params = {
        "lr": Column(10 ** rng.uniform(-5, -1, n), np.zeros(n, bool)),
        "momentum": Column(rng.uniform(0, 1, n), rng.random(n) < 0.5),
        "optimizer": category(rng.choice(["adam", "sgd", "lion"], n).tolist(), ["adam", "sgd", "lion"]),
        "size": category(rng.choice(size, n).tolist(), size.tolist()),
    }
    loss = np.abs(np.log10(params["lr"].values) + 3) + rng.random(n)
    facts: dict[str, Any] = {
        "goals": [("loss", "min"), ("accuracy", "max")],
        "log_params": frozenset({"lr"}),
        "started": start,
        "ended": start + rng.exponential(10, n),
        "rung": np.where(rng.random(n) < 0.2, np.nan, 3.0 ** rng.integers(0, 4, n)),
        "source": np.where(rng.random(n) < 0.5, rng.integers(0, max(n, 1), n), -1).astype(np.int32),
        "allowed": rng.random(n) < 0.9,
    }
    return table(
        params, {"loss": loss, "accuracy": rng.random(n), "flops": rng.random(n)}, **{**facts, **others}
    )


def with_metrics(columns: TrialColumns, change: Callable[[Any], Any]) -> TrialColumns:
    return replace(
        columns, metrics={name: metric_columns(change(one.last)) for name, one in columns.metrics.items()}
    )


def with_params(columns: TrialColumns, **params: Column) -> TrialColumns:
    return replace(columns, params={**columns.params, **params})


def restarted(row: int, metric: str) -> Curve:
    """Return a curve that went back to iteration 2, with other values, and lost its numbers once."""
    values = [3.0, 2.0, np.inf, 1.0, 1.5, np.nan, 0.5]
    return np.array([1, 2, 3, 4, 2, 3, 4], np.int64), np.array(values) + row


def running(n: int) -> TrialColumns:
    columns = with_metrics(trials(n), lambda last: np.full(n, np.nan))
    return replace(
        columns,
        status=category(["RUNNING"] * (n - 1) + ["PENDING"]),
        started=np.array([*columns.started[:-1], np.nan]),
        ended=np.full(n, np.nan),
        n_results=np.zeros(n, np.int32),
    )


def garbage(n: int) -> Column:
    """Return a column of which nothing is there: what it has instead must not be looked at."""
    return Column(np.full(n, 10**6, np.int32), np.ones(n, bool), ("a",))


STRANGE = [None, True, 1, "1", 1.5, float("nan"), [1, 2], {"a": 1}, "x" * 100, "x" * 50 + "y" * 50]

CASES: dict[str, Callable[[], TrialColumns]] = {
    "0 trials": lambda: trials(0),
    "1 trial": lambda: trials(1),
    "3 trials": lambda: trials(3),
    "nothing is known": lambda: table({}, {}, goals=()),
    "no results yet": lambda: table({"lr": number([0.1, 0.2])}, {}),
    "no hyperparameters": lambda: table(
        {}, {"loss": [1.0, 2.0], "accuracy": [1.0, 2.0]}, goals=trials(0).goals
    ),
    "all NaN": lambda: with_metrics(trials(30), lambda last: np.full(30, np.nan)),
    "one value": lambda: with_params(
        with_metrics(trials(30), np.ones_like), lr=number([0.1] * 30), optimizer=category(["adam"] * 30)
    ),
    "missing values": lambda: with_params(
        with_metrics(trials(30), lambda last: np.where(np.arange(30) % 3 == 0, np.nan, last)),
        lr=number([None if i % 2 else 0.1 * i for i in range(30)]),
        nothing=garbage(30),
        momentum=number([None] * 30),
        optimizer=category([None if i % 4 == 0 else "adam" for i in range(30)]),
    ),
    "log axes with 0 and negative values": lambda: replace(
        with_params(
            trials(30),
            lr=number([0.1 * i - 0.5 for i in range(30)]),
            zero=number([float(i) for i in range(30)]),
        ),
        log_params=frozenset({"lr", "zero", "optimizer"}),
    ),
    "a category with 10,000 levels": lambda: with_params(
        trials(10_000),
        layer=Column(np.arange(10_000, dtype=np.int32), np.zeros(10_000, bool), tuple(range(10_000))),
    ),
    "strange levels": lambda: with_params(
        trials(30),
        strange=Column(np.arange(30, dtype=np.int32) % len(STRANGE), np.zeros(30, bool), tuple(STRANGE)),
    ),
    "other directions": lambda: trials(30, goals=[("accuracy", "max"), ("loss", "max")]),
    "three objectives": lambda: trials(30, goals=[("loss", "min"), ("accuracy", "max"), ("flops", "min")]),
    "restarts": lambda: trials(30, curve=restarted),
    "infinite values": lambda: with_params(
        with_metrics(trials(30), lambda last: np.where(np.arange(30) % 3 == 0, np.inf, -last)),
        lr=number([np.inf, -np.inf, np.nan] * 10),
        momentum=number([np.inf, 0.5, 0.25] * 10),
    ),
    "huge values": lambda: with_params(
        with_metrics(trials(30), lambda last: np.where(last > np.median(last), 1.0, -1.0) * 1e300),
        lr=number([-1.7e308, 1.7e308, 0.0] * 10),
        momentum=number([5e-324, 1.0, 0.5] * 10),
    ),
    "running without results": lambda: running(10),
    "none is allowed": lambda: trials(30, allowed=np.zeros(30, bool)),
    "clocks that go back": lambda: trials(30, ended=np.full(30, -5.0)),
    "100,000 trials": lambda: trials(100_000, goals=[("loss", "min"), ("accuracy", "max"), ("flops", "min")]),
}


def parts_of(value: Any) -> Iterator[Any]:
    """Yield a plot, its dataclasses, arrays and numbers."""
    yield value
    if is_dataclass(value) and not isinstance(value, ConfigChange):  # A configuration may have any value.
        for one in fields(value):
            yield from parts_of(getattr(value, one.name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from parts_of(one)


def assert_sound(plot: Any) -> None:
    size = 0
    for part in parts_of(plot):
        if isinstance(part, np.ndarray):
            size += part.size
            assert part.dtype.kind in "bif"
            assert not np.isinf(part).any()
        elif isinstance(part, float):
            assert abs(part) < np.inf or np.isnan(part)
        elif isinstance(part, Shown):
            assert 0 <= part.n_shown <= part.n_all
            assert bool(part.note) == (part.n_shown < part.n_all or part.is_aggregated)
        elif isinstance(part, Points):
            assert len(part.rows) == len(part.x) == len(part.y) == len(part.is_allowed) <= 5_000
            assert np.isfinite(part.x).all()
            assert np.isfinite(part.y).all()
            assert part.density is None or part.density.counts.sum() == part.shown.n_all
        elif isinstance(part, Axis):
            assert part.low < part.high
            assert not part.is_log or part.low > 0
            assert part.labels is None or len(set(part.labels)) == len(part.labels) <= 50
        elif isinstance(part, Steps):
            assert len(part.x) == len(part.y) <= 2_010
            assert np.isfinite(part.y).all()
            assert (np.diff(part.x) >= 0).all()
        elif isinstance(part, LearningCurve):
            assert len(part.t) == len(part.values)
            assert (np.diff(part.t) > 0).all()
    assert size <= MOST_NUMBERS


@pytest.fixture(scope="module", params=CASES)
def columns(request: pytest.FixtureRequest) -> TrialColumns:
    return CASES[request.param]()


@pytest.mark.parametrize("name", PLOTS)
def test_any_experiment_has_sound_numbers(name: str, columns: TrialColumns) -> None:
    plot = function(name)
    if name in ("pareto_front", "hypervolume_history") and len(columns.goals) < 2:
        with pytest.raises(ValueError, match="must be two or"):
            plot(columns)
    else:
        assert_sound(plot(columns))


@pytest.mark.parametrize("name", ["optimization_history", "edf", "compare"])
def test_several_experiments_have_sound_numbers(name: str) -> None:
    plot = function(name)
    assert_sound(plot([]))
    assert_sound(plot([trials(0), trials(1), trials(30, 1), running(10)]))
    if name == "optimization_history":
        assert_sound(plot([trials(0), trials(1), trials(30, 1), running(10)], error_bar=True))


@pytest.mark.parametrize("name", PLOTS)
def test_numbers_repeat(name: str) -> None:
    columns = trials(6_000)
    first, second = ([repr(part) for part in parts_of(function(name)(columns))] for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "name",
    ["optimization_history", "slices", "contour", "rank", "edf", "cost", "compare", "parallel_coordinate"],
)
def test_arguments_are_checked(name: str) -> None:
    plot, columns = function(name), trials(10)
    with pytest.raises(
        ValueError, match="no result has it; results have 'loss', 'accuracy', 'flops'; did you mean 'loss'"
    ):
        plot(columns, metric="los")
    with pytest.raises(ValueError, match='mode="least"|mode=\'least\': must be "min" or "max"'):
        plot(columns, mode="least")
    with pytest.raises(ValueError, match="scope='avg': must be one of 'last', 'all'"):
        plot(columns, scope="avg")
    with pytest.raises(ValueError, match="metric=None: must be one of 'loss'"):
        plot(replace(columns, goals=()))
    if name in ("slices", "contour", "rank", "parallel_coordinate"):
        with pytest.raises(ValueError, match="no hyperparameter 'l'"):
            plot(columns, ["l"])
        with pytest.raises(ValueError, match="must be a list of names"):
            plot(columns, "lr")


def test_a_trial_whose_last_value_is_not_finite_has_no_value() -> None:
    columns = trials(3)
    loss = replace(columns.metrics["loss"], is_finite=np.array([True, False, True]))
    columns = replace(columns, metrics={"loss": loss}, goals=(("loss", "min"),))
    (history,) = function("optimization_history")(columns).experiments
    assert history.points.rows.tolist() == [0, 2]
    (history,) = function("optimization_history")(columns, scope="all").experiments
    assert history.points.rows.tolist() == [0, 1, 2]


def test_messages_do_not_repeat_long_names() -> None:
    long = "x" * 10_000
    columns = table({long: number([1.0])}, {long: [1.0]}, goals=())
    wrong = {"metric": long, "params": ["y" * 10_000]}
    for arguments in ({"metric": "y" * 10_000}, {}, {"metric": long, "scope": "all"}, wrong):
        with pytest.raises(ValueError, match="metric|params|scope") as error:
            function("slices")(columns, **arguments)
        assert len(str(error.value)) < 300
