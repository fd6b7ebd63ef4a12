"""The model behind `auto`."""

import numpy as np

from overtone.searchers.auto.observations import Observation
from overtone.searchers.auto.surrogate import QUICK, Surrogate
from overtone.space import Cube, uniform


def test_quick_suggestions_depend_on_the_results_alone():
    """One that was asked all the time says what one says that is asked now, as after a resume."""
    rng = np.random.default_rng(0)
    told = [
        Observation(i, tuple(map(float, point)), (float(-point.sum()),), (), 0.01)
        for i, point in enumerate(rng.random((150, 2)))
    ]
    often, once = (Surrogate(Cube({"x": uniform(0, 1), "y": uniform(0, 1)})) for _ in range(2))
    for n in (122, 127, 128, 131, 132, 150):
        often.ranked(told[:n], [], 0, 0, np.random.default_rng(1))
    found = [one.ranked(told, [], 0, 0, np.random.default_rng(1)) for one in (often, once)]
    assert found[0] == found[1]
    assert len(found[0]) == 64 + QUICK.n_moved  # it was quick
