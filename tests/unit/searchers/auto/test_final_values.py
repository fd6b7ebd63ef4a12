"""Values at the end, predicted from earlier ones."""

import numpy as np
import pytest

from overtone.searchers.auto.encoding import Encoding
from overtone.searchers.auto.final_values import final_values, log_seconds
from overtone.searchers.auto.observations import Observation
from overtone.searchers.auto.targets import powered, ranked
from overtone.searchers.auto.training_data import Growing
from overtone.space import Cube, uniform

ENCODING = Encoding(Cube({"x": uniform(0, 1)}))
N_LEVELS = 5


def curves(n, kind, stops=True, seed=0):
    """Evidence of n trials, of which those that are below the median at level 1 stop there."""
    rng = np.random.default_rng(seed)
    final, noise = rng.standard_normal(n), rng.standard_normal((n, N_LEVELS))
    if kind == "informative":
        values = final[:, None] - 2.0 ** -np.arange(N_LEVELS) + 0.05 * noise
    elif kind == "reversed":
        values = final[:, None] * np.linspace(-1, 1, N_LEVELS) + 0.05 * noise
    else:
        values = noise
    values[:, -1] = final
    found, middle = [], np.median(values[:, 1])
    for i in range(n):
        is_stopped = stops and values[i, 1] < middle and i > n // 4
        for level in range(2 if is_stopped else N_LEVELS):
            is_complete = level == N_LEVELS - 1
            score = (float(values[i, level]),)
            found.append(Observation(i, (i / n,), score, (), 1.5**level, float(level), is_complete))
    return Growing(ENCODING).of(found), final


@pytest.mark.parametrize("target", [powered, ranked])
@pytest.mark.parametrize("kind", ["informative", "reversed", "noise"])
def test_values_of_stopped_trials_are_predicted_with_their_uncertainty(target, kind):
    every, final = curves(120, kind)
    values, variance = final_values(every, target)
    is_stopped = ~every.is_complete
    assert (variance[~is_stopped] == 0).all()
    assert (variance[is_stopped] > 0).all()
    r = np.corrcoef(values[is_stopped], final[is_stopped])[0, 1]
    if kind != "informative":  # reversed values pass through a level where they tell nothing
        assert variance[is_stopped].mean() > 0.5
    else:
        assert r > 0.9
        assert variance[is_stopped].mean() < 0.2
        # no bias, though only the best at level 1 went on
        apart = values - np.polyval(np.polyfit(final[~is_stopped], values[~is_stopped], 1), final)
        assert abs(apart[is_stopped].mean()) < (0.35 if target is powered else 0.5)


def test_ranks_alone_matter_and_the_scale_of_values_does_not():
    every, _ = curves(60, "informative")
    values, variance = final_values(every, ranked)
    other, _ = curves(60, "informative")
    other.scores, other.curves = np.exp(3 * every.scores), np.exp(3 * every.curves)
    found = final_values(other, ranked)
    assert found[0] == pytest.approx(values)
    assert found[1] == pytest.approx(variance)
    other.scores, other.curves = 1e6 * every.scores + 5, 1e6 * every.curves + 5
    assert final_values(other, powered)[0] == pytest.approx(final_values(every, powered)[0], abs=1e-6)


def test_where_nothing_was_stopped_values_are_those_of_the_last_results():
    single = [Observation(i, (i / 9,), (float(i % 4),)) for i in range(9)]
    values, variance = final_values(Growing(ENCODING).of(single), powered)
    assert values.tolist() == powered(np.arange(9) % 4.0).tolist()
    assert not variance.any()
    every, final = curves(50, "informative", stops=False)
    values, variance = final_values(every, ranked)
    assert not variance.any()
    assert np.argsort(values).tolist() == np.argsort(final).tolist()


def test_before_any_trial_has_ended_values_count_as_uncertain():
    some = [
        Observation(i, (i / 9,), (float(i),), (), 1.0, float(level), is_complete=False)
        for i in range(9)
        for level in range(1 + (i == 3) * 4)
    ]
    values, variance = final_values(Growing(ENCODING).of(some), ranked)
    assert np.isfinite(values).all()
    assert (variance[np.arange(9) != 3] > 0).all()
    assert variance[3] == 0


def test_diverged_and_failed_trials_count_as_the_worst():
    every, _ = curves(40, "informative")
    every.scores[5], every.curves[5, 1:] = -np.inf, np.nan
    every.scores[6], every.curves[6] = np.nan, np.nan
    every.is_complete[5:7] = True
    values, variance = final_values(every, powered)
    assert np.isfinite(values).all()
    assert np.isfinite(variance).all()
    assert values[5] == values[6]
    assert values[5] <= values[every.is_complete].min()


def test_times_to_the_end_count_in_proportion():
    told = [
        Observation(0, (0.1,), (1.0,), (), 30.0, 4.0, is_complete=True),
        Observation(1, (0.2,), (1.0,), (), 10.0, 1.0, is_complete=False),
        Observation(2, (0.3,), (1.0,), (), 60.0, 4.0, is_complete=True),
    ]
    logs = log_seconds(Growing(ENCODING).of(told))
    assert np.exp(logs - logs[0]) == pytest.approx([1.0, 10 * 1.5**3 / 30, 2.0])
    same = [Observation(i, (0.1,), (1.0,), (), 30.0 + 0.01 * i) for i in range(3)]
    assert log_seconds(Growing(ENCODING).of(same)) is None
    assert log_seconds(Growing(ENCODING).of([Observation(i, (0.1,), (1.0,)) for i in range(3)])) is None


def test_a_single_trial_that_went_on_leaves_the_others_comparable():
    """One trial says how far values move, and nothing of how that depends on the value."""
    n = 12
    some = [Observation(i, (i / n,), (float(i),), (), 1.0, 0.0, False) for i in range(n)]
    some.append(Observation(5, some[5].point, (6.0,), (), 1.5, 1.0, True))
    values, variance = final_values(Growing(ENCODING).of(some), ranked)
    stopped = [i for i in range(n) if i != 5]
    assert variance[stopped].max() < 1.0
    assert (np.diff(values[stopped]) > 0).all()
