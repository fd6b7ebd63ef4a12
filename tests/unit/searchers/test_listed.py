from itertools import count

import pytest

from overtone.errors import SpaceError
from overtone.searchers import Listed, is_listing
from overtone.space import grid_search, uniform


def started(configs, **arguments):
    searcher = Listed(configs, **arguments)
    searcher.on_start(None, 1)
    return searcher


def test_a_list_gives_exactly_its_trials():
    searcher = started([{"x": 1}, {"x": 2}])
    assert searcher.total == 2
    assert [searcher.suggest(i) for i in range(3)] == [{"x": 1}, {"x": 2}, {"x": 1}]
    assert [searcher.total_for(n) for n in (1, 3, -1)] == [2, 6, None]


def test_a_list_may_be_repeated():
    searcher = started([{"x": 1}, {"x": 2}], num_samples=2)
    assert searcher.total == 4
    assert [searcher.suggest(i)["x"] for i in range(4)] == [1, 2, 1, 2]
    assert started([{"x": 1}], num_samples=-1).suggest(99) == {"x": 1}


def test_a_generator_is_asked_as_far_as_needed():
    asked = []

    def configs():
        for i in count():
            asked.append(i)
            yield {"x": i}

    searcher = started(configs())
    assert searcher.total is None
    assert [searcher.suggest(i)["x"] for i in (0, 1, 0, 2)] == [0, 1, 0, 2]
    assert asked == [0, 1, 2]


def test_a_generator_ends():
    searcher = started(iter([{"x": 1}]), num_samples=-1)
    assert [searcher.suggest(i) for i in range(2)] == [{"x": 1}, None]


def test_a_frame_gives_a_trial_a_row():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"lr": [0.1, 0.2], "n": [1, 2], "model/width": [8, 16]})
    searcher = started(frame)
    assert searcher.total == 2
    assert searcher.suggest(1) == {"lr": 0.2, "n": 2, "model": {"width": 16}}
    assert type(searcher.suggest(1)["n"]) is int


def test_a_frame_of_results_gives_its_configurations():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"loss": [3.0], "config/lr": [0.1], "config/opt/m": [0.9]})
    assert started(frame).suggest(0) == {"lr": 0.1, "opt": {"m": 0.9}}


def test_what_is_a_listing():
    assert is_listing([])
    assert is_listing(iter([]))
    assert not is_listing({"x": 1})
    assert not is_listing("abc")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: started({"x": 1}), "must be a list, a generator or a frame"),
        (lambda: started([]), "the list of configurations is empty"),
        (lambda: started([{"x": 1}, 3]), "configuration 1 is 3; it must be a dict"),
        (lambda: started([{"a": {"b": uniform(0, 1)}}]), r"configuration 0: a/b is uniform\(0, 1\), but"),
        (lambda: started([{"a": grid_search([1])}]), "configuration 0: a is {'grid_search'"),
        (lambda: started(iter([3])).suggest(0), "configuration 0 is 3"),
        (lambda: started(iter([]), num_samples=2), "num_samples=2: a generator"),
        (lambda: started([{}], num_samples=0), "num_samples=0"),
    ],
)
def test_what_cannot_be_used(make, says):
    with pytest.raises(SpaceError, match=says):
        make()
