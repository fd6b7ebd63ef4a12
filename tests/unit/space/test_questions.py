"""Constants that look like ranges are asked about."""

import pytest

from overtone import tune
from overtone.space.questions import questions


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ({"min": 0, "max": 1}, "tune.uniform(0, 1), or for integers tune.randint(0, 2)"),
        ({"min": 0.0, "max": 1}, "tune.uniform(0.0, 1)"),
        ({"low": 1e-4, "high": 1e-1, "type": "log"}, "tune.uniform(0.0001, 0.1)"),
        ({"lower": 2, "upper": 5}, "tune.uniform(2, 5), or for integers tune.randint(2, 6)"),
        ((0.1, 0.9), "tune.uniform(0.1, 0.9)"),
        ((16, 128), "tune.uniform(16, 128), or for integers tune.randint(16, 129)"),
    ],
)
def test_what_looks_like_a_range_is_asked_about(value, meant):
    (line,) = questions({"a": {"b": value}, "lr": tune.uniform(0, 1)})
    assert line.startswith(f"'a/b': {value!r} is a constant. For a range, write {meant}")


@pytest.mark.parametrize(
    "value",
    [[0.9, 0.999], (3, 2), (1,), (1, 2, 3), ("a", "b"), (True, False), {"min": "a", "max": "b"}, {"min": 1}, 3, None,
     tune.choice([(0, 1)]), tune.grid_search([{"min": 0, "max": 1}])],
    ids=repr,
)  # fmt: skip
def test_other_values_are_not(value):
    assert list(questions({"a": value})) == []


@pytest.mark.parametrize("space", [None, [{"x": (0, 1)}], iter([]), {}])
def test_listings_are_not(space):
    assert list(questions(space)) == []


def test_a_run_asks_once_and_in_silence_not_at_all(tmp_path, capfd):
    def train(config):
        tune.report({"loss": config["x"][0]})

    options = {"config": {"x": (1, 2)}, "engine": "inline", "storage_path": str(tmp_path), "num_samples": 2}
    tune.run(train, verbose=1, **options)
    told = capfd.readouterr()
    assert (told.out + told.err).count(
        "For a range, write tune.uniform(1, 2), or for integers tune.randint(1, 3)"
    ) == 1
    tune.run(train, verbose=0, **options)
    told = capfd.readouterr()
    assert "range" not in told.out + told.err
