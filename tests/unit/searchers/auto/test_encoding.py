"""Points as columns."""

import numpy as np

from overtone.searchers.auto.encoding import Encoding
from overtone.space import Cube, choice, randint, uniform


def test_columns_of_each_kind():
    cube = Cube(
        {
            "a": uniform(0, 1),
            "b": choice(["x", "y", "z"]),
            "c": choice([16, 32, 64]),
            "d": choice([True, False]),
        }
    )
    encoding = Encoding(cube)
    assert encoding.groups.tolist() == [0, 1, 1, 1, 2, 3]
    columns = encoding.columns(np.array([[0.25, 0.5, 5 / 6, 0.25]]))
    assert np.allclose(columns, [[0.25, 0, 0.5**0.5, 0, 5 / 6, 0.25]])


def test_options_in_no_order_lie_equally_far_apart():
    encoding = Encoding(Cube({"b": choice(["x", "y", "z"])}))
    columns = encoding.columns(np.array([[1 / 6], [0.5], [5 / 6]]))
    distances = {round(float(np.sum((a - b) ** 2)), 9) for i, a in enumerate(columns) for b in columns[:i]}
    assert distances == {1.0}


def test_snapped_points_are_those_of_configurations():
    cube = Cube(
        {
            "n": randint(0, 4),
            "model": choice([{"k": "a", "lr": uniform(0, 1)}, {"k": "b", "n": randint(1, 9)}]),
        }
    )
    points = Encoding(cube).snapped(np.random.default_rng(0).random((50, len(cube))))
    for point in points.tolist():
        assert np.allclose(cube.to_unit(cube.from_unit(point)), point)
