import pytest

from overtone.errors import SpaceError
from overtone.searchers import BasicVariantGenerator, RandomSearch
from overtone.space import choice, grid_search, sample_from, uniform

SPACE = {"x": grid_search([1, 2, 3]), "y": grid_search(["a", "b", "c"]), "lr": uniform(0, 1)}


def started(space=SPACE, seed=1, **arguments):
    searcher = BasicVariantGenerator(**arguments)
    searcher.on_start(space, seed)
    return searcher


def all_of(searcher):
    return [searcher.suggest(i) for i in range(searcher.total)]


def test_the_whole_grid_is_repeated_and_random_values_are_drawn_anew():
    searcher = started(num_samples=2)
    assert searcher.total == 18
    configs = all_of(searcher)
    assert [config["x"] for config in configs] == [1, 2, 3] * 6
    assert [config["y"] for config in configs] == (["a"] * 3 + ["b"] * 3 + ["c"] * 3) * 2
    assert len({config["lr"] for config in configs}) == 18


def test_more_samples_may_be_asked_for_later():
    searcher = started(num_samples=2)
    assert [searcher.total_for(n) for n in (1, 2, 3, -1)] == [9, 18, 27, None]
    assert searcher.suggest(18)["lr"] not in [config["lr"] for config in all_of(searcher)]


def test_a_suggestion_depends_on_the_seed_and_the_index_alone():
    assert started().suggest(5) == all_of(started())[5]
    assert started(seed=2).suggest(5)["lr"] != started().suggest(5)["lr"]
    assert started(seed=2, random_state=1).suggest(5) == started().suggest(5)


def test_random_values_may_stay_constant_over_the_grid():
    configs = all_of(started(num_samples=2, constant_grid_search=True))
    assert len({config["lr"] for config in configs[:9]}) == 1
    assert len({config["lr"] for config in configs}) == 2


def test_without_end():
    searcher = started(num_samples=-1)
    assert searcher.total is None
    assert searcher.suggest(10**12) is not None


def test_num_samples_may_be_set_before_the_start():
    searcher = RandomSearch()
    searcher.num_samples = 4
    searcher.on_start({"x": uniform(0, 1)}, 1)
    assert searcher.total == 4


def test_points_come_first_each_in_the_place_of_a_sample():
    space = {"x": uniform(0, 1), "y": choice([1, 2])}
    searcher = started(space, num_samples=3, points_to_evaluate=[{"x": 0.5}, {"x": 0.25, "y": 2}])
    configs = all_of(searcher)
    assert len(configs) == 3
    assert configs[0] == {"x": 0.5, "y": started(space).suggest(0)["y"]}
    assert configs[1] == {"x": 0.25, "y": 2}
    assert configs[2] == started(space, num_samples=3).suggest(2)


def test_points_go_through_the_grids_that_they_leave_open():
    points = [{"x": 2}, {"x": 1, "y": "b"}]
    configs = all_of(started(num_samples=3, points_to_evaluate=points))
    assert [(config["x"], config["y"]) for config in configs[:4]] == [(2, "a"), (2, "b"), (2, "c"), (1, "b")]
    assert [config["x"] for config in configs[4:]] == [1, 2, 3] * 3


def test_all_points_are_tried():
    assert started({"x": uniform(0, 1)}, points_to_evaluate=[{"x": 0.1}, {"x": 0.2}]).total == 2


def test_points_and_computed_values():
    space = {"x": uniform(0, 1), "y": sample_from(lambda spec: spec.config.x + 1)}
    assert started(space, points_to_evaluate=[{"x": 0.5}]).suggest(0) == {"x": 0.5, "y": 1.5}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"num_samples": 0}, "num_samples=0 must be 1 or more, or -1"),
        ({"num_samples": 1.5}, "num_samples=1.5"),
        ({"points_to_evaluate": {"x": 1}}, "must be a list of dicts"),
        ({"points_to_evaluate": [{"x": 1}, {"z": 1}]}, r"points_to_evaluate\[1\]: 'z' is not in the space"),
        ({"max_concurrent": -1}, "max_concurrent=-1 must be a whole number"),
        ({"random_state": "a"}, "random_state='a'"),
    ],
)
def test_arguments_that_cannot_be_used(arguments, says):
    with pytest.raises(SpaceError, match=says):
        started(**arguments)


def test_generators_of_numpy_serve_as_seeds():
    np = pytest.importorskip("numpy")
    first = started(random_state=np.random.RandomState(3)).suggest(0)
    assert first == started(random_state=np.random.RandomState(3), seed=9).suggest(0)
    assert started(random_state=np.random.default_rng(3)).suggest(0) != first


def test_a_point_outside_the_space_is_evaluated_and_told(capsys):
    searcher = BasicVariantGenerator([{"x": 7, "y": 1}, {"c": 3, "o": {"z": 9}}], num_samples=2)
    space = {"x": grid_search([1, 2]), "y": uniform(0, 1), "c": 2, "o": {"z": choice([1, 2])}}
    searcher.on_start(space, 0)
    assert searcher.suggest(0) == {"x": 7, "y": 1, "c": 2, "o": {"z": searcher.suggest(0)["o"]["z"]}}
    assert [searcher.suggest(i)["x"] for i in (1, 2)] == [1, 2]
    assert {(searcher.suggest(i)["c"], searcher.suggest(i)["o"]["z"]) for i in (1, 2)} == {(3, 9)}
    told = capsys.readouterr().err
    assert told.splitlines() == [
        "overtone: points_to_evaluate[0]: x=7 is none of 1, 2 (it is evaluated as it is)",
        "overtone: points_to_evaluate[1]: c=3: the space fixes it at 2 (it is evaluated as it is)",
        "overtone: points_to_evaluate[1]: o/z=9 is none of 1, 2 (it is evaluated as it is)",
    ]
