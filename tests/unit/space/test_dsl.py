from random import Random

import pytest

from overtone.errors import SpaceError
from overtone.space import (
    choice,
    grid_search,
    lograndint,
    loguniform,
    qlograndint,
    qloguniform,
    qrandint,
    qrandn,
    quniform,
    randint,
    randn,
    sample_from,
    space_from_data,
    uniform,
)

DOMAINS = [
    uniform(-5, -1),
    quniform(3.2, 5.4, 0.2),
    loguniform(1e-4, 1e-2),
    qloguniform(1e-4, 1e-1, 5e-5),
    randint(-9, 15),
    qrandint(-21, 12, 3),
    lograndint(1, 10),
    qlograndint(2, 10, 2),
    randn(10, 2),
    qrandn(10, 2, 0.2),
    choice(["a", "b", "c"]),
]


def drawn(domain, n=400):
    rng = Random(1)
    return [domain.sample(rng) for _ in range(n)]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_what_is_drawn_is_contained_and_survives_the_unit_interval(domain):
    for value in drawn(domain):
        assert domain.contains(value)
        assert domain.is_valid(value)
        back = domain.quantile(domain.cdf(value))
        assert back == value if isinstance(value, str) else back == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_domain_is_its_call_as_text_and_as_data(domain):
    import overtone.space as space

    assert eval(repr(domain), vars(space) | {name: getattr(space, name) for name in dir(space)}) == domain
    assert space.space_from_data(space.space_to_data({"x": domain})) == {"x": domain}


def test_integers_leave_the_upper_bound_out_unless_quantized():
    assert set(drawn(randint(1, 4))) == {1, 2, 3}
    assert set(drawn(lograndint(1, 4))) == {1, 2, 3}
    assert set(drawn(qrandint(1, 4))) == {1, 2, 3, 4}
    assert set(drawn(qrandint(-2, 4, 2))) == {-2, 0, 2, 4}
    assert set(drawn(qlograndint(2, 10, 2))) == {2, 4, 6, 8, 10}
    assert {type(value) for value in drawn(qlograndint(2, 10, 2)) + drawn(randint(1, 4))} == {int}


def test_quantized_reals_are_written_as_people_write_them():
    assert sorted(set(drawn(quniform(0, 1, 0.1)))) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert sorted(set(drawn(quniform(0.25, 1, 0.25)))) == [0.25, 0.5, 0.75, 1.0]
    assert all(repr(value) == repr(round(value, 5)) for value in drawn(qloguniform(1e-4, 1e-1, 5e-5)))


def test_quantized_values_are_equally_likely_when_linear():
    counts = [drawn(qrandint(1, 4), 4000).count(k) for k in (1, 2, 3, 4)]
    assert min(counts) > 900


def test_logarithmic_values_are_uniform_in_their_logarithm():
    below = sum(value < 1e-3 for value in drawn(loguniform(1e-4, 1e-2), 4000))
    assert 1850 < below < 2150


def test_the_ends_of_the_unit_interval_are_the_bounds():
    assert (uniform(2, 3).quantile(0), uniform(2, 3).quantile(1)) == (2, 3)
    assert (loguniform(1e-3, 1).quantile(0), loguniform(1e-3, 1).quantile(1)) == (1e-3, 1)
    assert (randint(2, 5).quantile(0), randint(2, 5).quantile(1)) == (2, 4)
    assert uniform(2, 3).quantile(7) == 3
    assert -9 < randn().quantile(0) < -8 < 8 < randn().quantile(1) < 9


def test_samples_need_no_generator_of_the_users():
    assert 0 <= uniform(0, 1).sample() <= 1
    assert choice([1, 2]).sample() in (1, 2)
    assert sample_from(lambda _: 3).sample() == 3


def test_numbers_of_numpy_are_numbers():
    np = pytest.importorskip("numpy")
    assert repr(uniform(np.float64(0.5), np.int64(2))) == "uniform(0.5, 2)"
    assert choice(np.arange(3)).categories == [0, 1, 2]
    assert randint(0, 5).contains(np.int64(3))


def test_values_outside_are_not_contained():
    assert not uniform(0, 1).contains(1.5)
    assert not uniform(0, 1).contains("a")
    assert not uniform(0, 1).contains(True)
    assert not uniform(0, 1).contains(float("nan"))
    assert not randint(0, 5).contains(5)
    assert not randint(0, 5).contains(2.5)
    assert not quniform(0, 1, 0.1).contains(0.15)
    assert not choice([1, 2]).contains(3)


def test_grid_search_is_plain_data():
    assert grid_search((1, 2)) == {"grid_search": [1, 2]}
    assert grid_search(range(3)) == {"grid_search": [0, 1, 2]}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: uniform(1, 0.1), r"uniform\(1, 0.1\): lower=1 must be below upper=0.1"),
        (lambda: randint(3, 3), "lower=3 must be below upper=3"),
        (lambda: loguniform(0, 1), r"loguniform\(0, 1\): lower=0 has no logarithm"),
        (lambda: lograndint(-1, 5), "lower=-1 has no logarithm"),
        (lambda: loguniform(0.1, 1, base=1), "base=1"),
        (lambda: uniform("a", 1), "lower='a' must be a finite number"),
        (lambda: uniform(0, float("inf")), "upper=inf must be a finite number"),
        (lambda: uniform(True, 2), "lower=True"),
        (lambda: uniform(-1.7e308, 1.7e308), "too wide"),
        (lambda: randint(0.5, 3), "lower=0.5 must be a whole number"),
        (lambda: quniform(0, 1, 0), "q=0 must be above 0"),
        (lambda: quniform(0, 1, 2), "q=2 is wider than the range from 0 to 1"),
        (lambda: quniform(0.05, 1, 0.1), "lower=0.05 is not a multiple of q=0.1; 0 or 0.1 would be"),
        (lambda: quniform(0, 10, 3), "upper=10 is not a multiple of q=3; 9 or 12 would be"),
        (lambda: randn(0, 0), "sd=0 must be above 0"),
        (lambda: qrandn(0, 1, -1), "q=-1 must be above 0"),
        (lambda: choice([]), r"choice\(\[\]\) is empty"),
        (lambda: choice("abc"), r"a list of values is needed, such as choice\(\['abc'\]\)"),
        (lambda: grid_search(3), r"grid_search\(3\): a list"),
        (lambda: sample_from(3), r"sample_from\(3\): a function is needed"),
        (lambda: sample_from(str).quantile(0.5), "no place in the unit cube"),
        (lambda: choice([1]).cdf(2), "2 is none of the categories"),
        (lambda: uniform(0, 1).quantile(float("nan")), "nan"),
        (lambda: space_from_data({"__domain__": "sin"}), "names no domain"),
        (lambda: space_from_data({"__domain__": "uniform", "low": 1}), r"does not fit uniform\(\)"),
    ],
)
def test_errors_show_the_value(make, says):
    with pytest.raises(SpaceError, match=says):
        make()


def test_whole_bounds_are_rounded_inward_to_their_steps():
    """The listing of Ray Tune's documentation: 1 to 10 in steps of 2 is 2, 4, ..., 10."""
    for domain in (qlograndint(1, 10, 2), qrandint(1, 10, 2)):
        assert {domain.quantile(i / 50) for i in range(51)} == {2, 4, 6, 8, 10}
