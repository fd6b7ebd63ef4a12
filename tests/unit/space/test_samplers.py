"""Domains as objects: made step by step, looked at by hand and described to other libraries."""

import copy
import pickle
from functools import partial
from random import Random

import pytest

from overtone import tune
from overtone.errors import SpaceError
from overtone.space import Categorical, Float, Function, Integer, Normal, grid_points, space_to_data
from overtone.space.samplers import BaseSampler, Grid, LogUniform, Quantized, Uniform

MADE = [
    (Float(1, 2), tune.uniform(1, 2)),
    (Float(1, 2).uniform(), tune.uniform(1, 2)),
    (Float(1, 2).loguniform(), tune.loguniform(1, 2)),
    (Float(1, 2).loguniform(base=2), tune.loguniform(1, 2, base=2)),
    (Float(1, 2).quantized(0.5), tune.quniform(1, 2, 0.5)),
    (Float(1, 2).loguniform().quantized(0.5), tune.qloguniform(1, 2, 0.5)),
    (Float(None, None).normal(3, 2), tune.randn(3, 2)),
    (Float(None, None).normal(3, 2).quantized(0.5), tune.qrandn(3, 2, 0.5)),
    (Integer(1, 9), tune.randint(1, 9)),
    (Integer(1, 9).uniform().quantized(3), tune.qrandint(1, 9, 3)),
    (Integer(1, 9).loguniform(), tune.lograndint(1, 9)),
    (Integer(1, 9).quantized(3).loguniform(), tune.qlograndint(1, 9, 3)),
    (Categorical(["a", "b"]).uniform(), tune.choice(["a", "b"])),
    (Function(len), tune.sample_from(len)),
]


@pytest.mark.parametrize(("made", "written"), MADE, ids=[repr(written) for _, written in MADE])
def test_a_domain_made_step_by_step_is_the_one_of_the_function(made, written):
    assert made == written
    assert repr(made) == repr(written)
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == copy.copy(made) == written


@pytest.mark.parametrize(("made", "written"), MADE, ids=[repr(written) for _, written in MADE])
def test_a_sampler_makes_the_domain_again(made, written):
    if isinstance(made, Function):
        assert isinstance(made.get_sampler(), BaseSampler)
        return
    bare = {Float: Float(1, 2), Integer: Integer(1, 9), Normal: Normal(0, 1)}.get(
        type(made), Categorical(["a", "b"])
    )
    bare.set_sampler(made.get_sampler())
    written = written.loguniform() if getattr(written, "base", 10) != 10 else written  # a base has no effect
    assert repr(bare) == repr(written)


def test_a_sampler_that_was_chosen_is_replaced_only_on_request():
    domain = Float(1, 2).uniform()
    with pytest.raises(SpaceError, match="has the sampler Uniform already"):
        domain.set_sampler(LogUniform())
    domain.set_sampler(LogUniform(), allow_override=True)
    assert domain == tune.loguniform(1, 2)
    with pytest.raises(SpaceError, match="has the sampler LogUniform already"):
        domain.set_sampler(Uniform())


def test_text_is_cast_to_a_number():
    assert (Float(1, 2).cast("1.5"), Integer(1, 5).cast("2")) == (1.5, 2)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Float(0.1, 1).loguniform().uniform(), "choose one of both"),
        (lambda: Float(0.1, 1).normal(), "tune.randn"),
        (lambda: Float(None, None).loguniform(), "has no bounds"),
        (lambda: Float(None, None).sample(), "has no bounds"),
        (lambda: Float(0, 32).quantized(3), "is not a multiple"),
        (lambda: Float(-1, 1).loguniform(), "no logarithm"),
        (lambda: Float(0, 1).set_sampler(Grid()), "give Uniform"),
        (lambda: Categorical([1]).set_sampler(LogUniform()), "give Uniform.. or Grid"),
        (lambda: Normal().set_sampler(Uniform()), "give Normal"),
        (lambda: Function(len).set_sampler(Uniform()), "has no sampler"),
        (lambda: tune.sample_from(lambda spec, other: 1), "may have one argument"),
        (lambda: grid_points({"x": Float(None, None)}), "x: Float.None, None. has no distribution"),
        (lambda: Float(0, 1).sample(random_state="a"), "must be a seed"),
    ],
)
def test_what_cannot_be_is_refused(wrong, says):
    with pytest.raises(SpaceError, match=says):
        wrong()


def test_several_values_are_drawn_at_once():
    assert len(Float(0, 1).sample(size=5)) == len(Categorical([1, "a"]).sample(None, 5)) == 5
    assert {type(one) for one in Categorical([1, "a"]).sample(size=50)} == {int, str}
    assert Integer(0, 9).quantized(3).sample(size=0) == []
    assert isinstance(Float(0, 1).sample(), float)
    pytest.importorskip("numpy")
    assert 0 <= Float(0, 1).sample(size=3).mean() <= 1


@pytest.mark.parametrize("domain", [written for _, written in MADE if not written.is_function()], ids=repr)
def test_a_seed_or_a_generator_repeats_the_values(domain):
    np = pytest.importorskip("numpy")
    for make in (
        lambda: 7,
        lambda: Random(7),
        lambda: np.random.default_rng(7),
        lambda: np.random.RandomState(7),
    ):
        first = list(domain.sample(size=4, random_state=make()))
        assert list(domain.sample(size=4, random_state=make())) == first
        assert all(map(domain.is_valid, first))
    np.random.seed(7)
    first = list(domain.sample(size=4))
    np.random.seed(7)
    assert list(domain.sample(size=4)) == first


def test_a_function_sees_the_values_it_is_given():
    assert Function(lambda spec: spec.config.x + 1).sample({"x": 2}) == 3
    assert Function(lambda config: config["a"]["b"]).sample([{"a": {"b": 1}}, {"a": {"b": 2}}], 2) == [1, 2]
    assert Function(partial(lambda config, b: b, b=4)).sample() == 4
    assert Function(lambda: 5).sample() == 5
    assert not Function(lambda: 5).pass_config


def test_a_choice_can_be_a_grid():
    grid = Categorical([1, 2]).grid()
    assert grid.is_grid()
    assert not tune.choice([1, 2]).is_grid()
    assert isinstance(grid.get_sampler(), Grid)
    assert list(grid_points({"x": grid})) == [{"x": 1}, {"x": 2}]
    assert space_to_data({"x": grid}) == {"x": {"grid_search": [1, 2]}}
    assert {grid.sample() for _ in range(50)} == {1, 2}
    assert grid[1] == 2


def test_domains_describe_themselves():
    assert Float(0.5, 1).domain_str == "(0.5, 1)"
    assert Categorical([1, 2]).domain_str == "[1, 2]"
    assert Function(len).domain_str.endswith("()")
    assert tune.randn().domain_str == "(-inf, inf)"
    assert tune.normal_prior(tune.uniform(0, 1), 0.5).domain_str == "(0, 1)"
    assert Function(len).is_function()
    assert not Float(0, 1).is_function()
    quantized = Integer(2, 9).loguniform().quantized(2).get_sampler()
    assert isinstance(quantized, Quantized)
    assert quantized.q == 2
    assert isinstance(quantized.get_sampler(), LogUniform)
    assert isinstance(tune.randn(1, 2).sampler, Normal)
    assert tune.randn(1, 2).sampler.sd == 2
    assert isinstance(tune.normal_prior(tune.uniform(0, 1), 0.5).sampler, Uniform)
    assert len(Uniform().sample(Float(0, 1).quantized(0.5), size=3)) == 3
