"""Search spaces: domains, samplers, grids and variants."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from subject import covers, part, tune


def once(config):
    return {"score": 1}


def samples(domain, n=200):
    return domain.sample(size=n)


@covers("tune.uniform: lower upper")
def test_uniform():
    values = samples(tune.uniform(2, 5))
    assert all(2 <= value < 5 for value in values)
    assert min(values) < 2.5
    assert max(values) > 4.5


@covers("tune.quniform: lower upper q")
def test_quniform():
    values = samples(tune.quniform(2, 5, 0.5))
    assert {round(value * 2, 9) for value in values} == {4, 5, 6, 7, 8, 9, 10}


@covers("tune.loguniform: lower upper base")
@pytest.mark.parametrize("base", [{}, {"base": 2}])
def test_loguniform(base):
    values = samples(tune.loguniform(1e-4, 1, **base))
    assert all(1e-4 <= value <= 1 for value in values)
    assert 60 < sum(value < 1e-2 for value in values) < 140


@covers("tune.qloguniform: lower upper q base")
def test_qloguniform():
    values = samples(tune.qloguniform(5, 100, 5, base=10))
    assert all(value % 5 == 0 for value in values)
    assert sum(value <= 20 for value in values) > 60


@covers("tune.randint: lower upper")
def test_randint():
    assert set(samples(tune.randint(2, 5))) == {2, 3, 4}


@covers("tune.qrandint: lower upper q")
def test_qrandint():
    assert set(samples(tune.qrandint(2, 8, 2))) == {2, 4, 6, 8}


@covers("tune.lograndint: lower upper base")
def test_lograndint():
    values = samples(tune.lograndint(1, 1000, base=10))
    assert all(1 <= value < 1000 and int(value) == value for value in values)
    assert sum(value < 32 for value in values) > 60


@covers("tune.qlograndint: lower upper q base")
def test_qlograndint():
    values = samples(tune.qlograndint(10, 1000, 10, base=2))
    assert all(10 <= value <= 1000 and value % 10 == 0 for value in values)
    assert sum(value < 100 for value in values) > 60


@covers("tune.randn: mean sd")
def test_randn():
    values = samples(tune.randn(10, 2), 500)
    assert 9.5 < np.mean(values) < 10.5
    assert 1.5 < np.std(values) < 2.5


@covers("tune.qrandn: mean sd q")
def test_qrandn():
    values = samples(tune.qrandn(10, 4, 0.5), 300)
    assert all(round(value * 2, 9) == round(value * 2) for value in values)
    assert 9 < np.mean(values) < 11


@covers("tune.choice: categories")
def test_choice():
    assert set(samples(tune.choice(["a", "b", None]))) == {"a", "b", None}


@covers("tune.sample_from: func")
def test_a_function_of_the_other_values(search):
    space = {"x": tune.randint(1, 4), "y": tune.sample_from(lambda spec: spec.config.x * 10)}
    for trial in search(once, config=space, num_samples=3).trials:
        assert trial.config["y"] == trial.config["x"] * 10


@covers("tune.sample_from: func")
def test_a_function_of_the_config(search):
    space = {"x": tune.grid_search([1, 2]), "y": tune.sample_from(lambda config: config["x"] + 0.5)}
    assert sorted(trial.config["y"] for trial in search(once, config=space).trials) == [1.5, 2.5]


@covers("tune.grid_search: values")
def test_grids_are_crossed(search):
    space = {"a": tune.grid_search([1, 2]), "deep": {"b": tune.grid_search(["x", "y"])}}
    configs = [(trial.config["a"], trial.config["deep"]["b"]) for trial in search(once, config=space).trials]
    assert sorted(configs) == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    assert tune.grid_search([1, 2]) == {"grid_search": [1, 2]}


@covers("tune.search.sample.Float: lower upper", "tune.search.sample.Float.uniform", "tune.search.sample.Float.loguniform: base",
        "tune.search.sample.Float.normal: mean sd", "tune.search.sample.Float.quantized: q")  # fmt: skip
def test_float_domains_are_built():
    Float = part("tune.search.sample").Float
    assert all(1 <= value < 2 for value in samples(Float(1, 2).uniform()))
    assert sum(value < 1e-2 for value in samples(Float(1e-4, 1).loguniform(10))) > 60
    assert abs(np.mean(samples(Float(None, None).normal(5, 0.1))) - 5) < 0.1
    assert set(samples(Float(0, 1).uniform().quantized(0.5))) == {0, 0.5, 1}
    assert Float(1, 2).lower == 1
    assert Float(1, 2).upper == 2


@covers("tune.search.sample.Integer: lower upper", "tune.search.sample.Integer.uniform", "tune.search.sample.Integer.loguniform: base",
        "tune.search.sample.Integer.quantized: q")  # fmt: skip
def test_integer_domains_are_built():
    Integer = part("tune.search.sample").Integer
    assert set(samples(Integer(1, 4).uniform())) == {1, 2, 3}
    assert sum(value < 32 for value in samples(Integer(1, 1000).loguniform(10))) > 60
    assert set(samples(Integer(0, 4).uniform().quantized(2))) == {0, 2, 4}


@covers("tune.search.sample.Categorical: categories", "tune.search.sample.Categorical.uniform")
def test_categorical_domains_are_built():
    Categorical = part("tune.search.sample").Categorical
    domain = Categorical(["a", "b"]).uniform()
    assert set(samples(domain)) == {"a", "b"}
    assert domain.categories == ["a", "b"]
    assert len(domain) == 2
    assert domain[1] == "b"


@covers("tune.search.sample.Categorical.grid", "tune.search.sample.Domain.is_grid", "tune.search.sample.Grid")
def test_a_categorical_grid(search):
    domain = part("tune.search.sample").Categorical([1, 2]).grid()
    assert domain.is_grid()
    assert sorted(trial.config["x"] for trial in search(once, config={"x": domain}).trials) == [1, 2]


@covers("tune.search.sample.Function: func", "tune.search.sample.Domain.is_function")
def test_function_domains_are_built():
    domain = part("tune.search.sample").Function(lambda spec: 4)
    assert domain.is_function()
    assert not tune.uniform(0, 1).is_function()
    assert domain.sample() == 4


@covers("tune.search.sample.Domain.sample: size config")
def test_a_sample_is_one_value_or_a_list():
    assert isinstance(tune.uniform(0, 1).sample(), float)
    assert len(tune.uniform(0, 1).sample(size=5)) == 5
    assert tune.randint(0, 10).sample(size=1) in range(10)


@covers("tune.search.sample.Domain.sample: random_state")
@pytest.mark.parametrize(
    "state", [lambda: np.random.RandomState(3), lambda: np.random.default_rng(3), lambda: 3]
)
def test_a_random_state_makes_samples_repeatable(state):
    domains = [
        tune.uniform(0, 1),
        tune.randint(0, 1000),
        tune.choice(list(range(1000))),
        tune.loguniform(1, 100),
    ]
    for domain in domains:
        assert list(domain.sample(size=3, random_state=state())) == list(
            domain.sample(size=3, random_state=state())
        )


@covers("tune.search.sample.Domain.is_valid: value")
def test_values_are_checked():
    assert tune.uniform(1, 2).is_valid(1.5)
    assert not tune.uniform(1, 2).is_valid(3.0)
    assert tune.choice(["a"]).is_valid("a")
    assert not tune.choice(["a"]).is_valid("b")
    assert not tune.randint(1, 5).is_valid(9)


@covers("tune.search.sample.Domain.cast: value")
def test_values_are_cast():
    assert tune.uniform(1, 2).cast("1.5") == 1.5
    assert tune.randint(1, 5).cast("2") == 2


@covers("tune.search.sample.Domain.domain_str")
def test_domains_have_a_text():
    assert tune.uniform(1, 2).domain_str == "(1, 2)"
    assert tune.choice(["a", "b"]).domain_str == "['a', 'b']"
    assert tune.randint(1, 5).domain_str == "(1, 5)"


@covers(
    "tune.search.sample.Domain",
    "tune.search.sample.Domain.get_sampler",
    "tune.search.sample.Domain.sampler",
    "tune.search.sample.Uniform",
    "tune.search.sample.Sampler",
    "tune.search.sample.BaseSampler",
)
def test_domains_have_samplers():
    sample = part("tune.search.sample")
    assert isinstance(tune.uniform(0, 1), sample.Domain)
    assert isinstance(tune.uniform(0, 1).get_sampler(), sample.Uniform)
    assert isinstance(tune.uniform(0, 1).get_sampler(), sample.Sampler)


@covers("tune.search.sample.LogUniform: base", "tune.search.sample.Normal: mean sd", "tune.search.sample.Quantized: sampler q",
        "tune.search.sample.Quantized.get_sampler")  # fmt: skip
def test_samplers_tell_their_settings():
    sample = part("tune.search.sample")
    assert isinstance(tune.loguniform(1, 10).get_sampler(), sample.LogUniform)
    normal = tune.randn(3, 2).get_sampler()
    assert isinstance(normal, sample.Normal)
    assert (normal.mean, normal.sd) == (3, 2)
    quantized = tune.quniform(0, 1, 0.5).get_sampler()
    assert isinstance(quantized, sample.Quantized)
    assert quantized.q == 0.5
    assert isinstance(quantized.get_sampler(), sample.Uniform)


@covers("tune.search.sample.Domain.set_sampler: sampler allow_override")
def test_a_sampler_is_set_once():
    sample = part("tune.search.sample")
    domain = sample.Float(0, 1).uniform()
    with pytest.raises(ValueError):
        domain.set_sampler(domain.get_sampler())
    domain.set_sampler(domain.get_sampler(), allow_override=True)


@covers("tune.loguniform: lower upper")
@pytest.mark.parametrize(
    "make", [lambda: tune.loguniform(0, 1), lambda: tune.loguniform(-1, 1), lambda: tune.lograndint(0, 5)]
)
def test_logarithms_need_positive_bounds(make):
    with pytest.raises(ValueError):
        make()


@covers("tune.quniform: q")
def test_bounds_are_multiples_of_the_quantum():
    with pytest.raises(ValueError):
        tune.quniform(0.25, 1, 0.5)


@covers("tune.search.variant_generator.generate_variants: unresolved_spec constant_grid_search random_state")
def test_variants_are_generated():
    generate = part("tune.search.variant_generator").generate_variants
    spec = {"config": {"a": tune.grid_search([1, 2, 3]), "b": tune.uniform(0, 1), "c": 5}}
    found = [spec["config"] for _, spec in generate(spec)]
    assert [config["a"] for config in found] == [1, 2, 3]
    assert len({config["b"] for config in found}) == 3
    assert {config["c"] for config in found} == {5}
    same = [spec["config"]["b"] for _, spec in generate(spec, constant_grid_search=True)]
    assert len(set(same)) == 1
    first, second = ([s["config"]["b"] for _, s in generate(spec, random_state=4)] for _ in range(2))
    assert first == second


@covers(
    "tune.search.variant_generator.parse_spec_vars: spec",
    "tune.search.variant_generator.assign_value: spec path value",
)
def test_a_spec_is_parsed():
    module = part("tune.search.variant_generator")
    resolved, domains, grids = module.parse_spec_vars(
        {"a": 1, "b": tune.uniform(0, 1), "c": tune.grid_search([1])}
    )
    assert [path for path, _ in domains] == [("b",)]
    assert [path for path, _ in grids] == [("c",)]
    spec = {"a": {"b": 1}}
    module.assign_value(spec, ("a", "b"), 2)
    assert spec == {"a": {"b": 2}}


@covers("tune.search.variant_generator.format_vars: resolved_vars")
def test_resolved_values_have_a_text():
    format_vars = part("tune.search.variant_generator").format_vars
    assert format_vars({("a", "b"): 1, ("c",): 0.5}) == "b=1,c=0.5000"


@covers("tune.search.variant_generator.grid_search", "tune.search.grid_search")
def test_other_homes_of_grid_search():
    assert (
        part("tune.search").grid_search([1])
        == part("tune.search.variant_generator").grid_search([1])
        == {"grid_search": [1]}
    )


@covers("tune.search.variant_generator.RecursiveDependencyError")
def test_values_that_need_each_other_are_refused():
    module = part("tune.search.variant_generator")
    spec = {
        "config": {
            "a": tune.sample_from(lambda spec: spec.config.b),
            "b": tune.sample_from(lambda spec: spec.config.a),
        }
    }
    with pytest.raises(module.RecursiveDependencyError):
        list(module.generate_variants(spec))


@covers("tune.search.BasicVariantGenerator: random_state")
def test_a_seed_makes_a_search_repeatable(search):
    def values():
        searcher = tune.search.BasicVariantGenerator(random_state=7)
        return [
            trial.config["x"]
            for trial in search(
                once, config={"x": tune.uniform(0, 1)}, num_samples=3, search_alg=searcher
            ).trials
        ]

    assert values() == values()


@covers("tune.run: config")
def test_global_seeds_make_a_search_repeatable(search):
    def values():
        np.random.seed(5)
        random.seed(5)
        return sorted(
            trial.config["x"]
            for trial in search(once, config={"x": tune.uniform(0, 1)}, num_samples=3).trials
        )

    assert values() == values()


@covers("tune.search.BasicVariantGenerator: constant_grid_search")
@pytest.mark.parametrize(("constant", "different"), [(True, 2), (False, 6)])
def test_random_values_may_be_constant_along_a_grid(search, constant, different):
    searcher = tune.search.BasicVariantGenerator(constant_grid_search=constant)
    space = {"a": tune.grid_search([1, 2, 3]), "b": tune.uniform(0, 1)}
    trials = search(once, config=space, num_samples=2, search_alg=searcher).trials
    assert len({trial.config["b"] for trial in trials}) == different


@covers("tune.search.BasicVariantGenerator: points_to_evaluate")
def test_given_points_come_first(search):
    searcher = tune.search.BasicVariantGenerator(points_to_evaluate=[{"x": 0.5, "y": 3}, {"x": 0.25}])
    space = {"x": tune.uniform(0, 1), "y": tune.randint(0, 10)}
    configs = [
        trial.config for trial in search(once, config=space, num_samples=3, search_alg=searcher).trials
    ]
    assert configs[0] == {"x": 0.5, "y": 3}
    assert configs[1]["x"] == 0.25
    assert configs[2]["x"] not in (0.5, 0.25)


@covers("tune.search.BasicVariantGenerator: points_to_evaluate")
def test_given_points_stand_beside_a_grid(search):
    searcher = tune.search.BasicVariantGenerator(points_to_evaluate=[{"a": 2, "x": 0.5}])
    space = {"x": tune.uniform(0, 1), "a": tune.grid_search([1, 2])}
    configs = [
        trial.config for trial in search(once, config=space, num_samples=1, search_alg=searcher).trials
    ]
    assert {"a": 2, "x": 0.5} in configs


@covers("tune.search.BasicVariantGenerator: max_concurrent")
def test_the_generator_limits_what_runs_at_once(search):
    class Most(tune.Callback):
        most = 0

        def on_trial_result(self, iteration, trials, trial, result, **info):
            self.most = max(self.most, sum(each.status == "RUNNING" for each in trials))

    most = Most()
    search(
        once, num_samples=3, search_alg=tune.search.BasicVariantGenerator(max_concurrent=1), callbacks=[most]
    )
    assert most.most == 1


@covers("tune.run: config")
def test_spaces_are_nested(search):
    space = {
        "model": {
            "layers": [tune.choice([8]), tune.choice([16])],
            "kind": tune.choice([{"name": "a", "p": 1}]),
        },
        "n": None,
    }
    (trial,) = search(once, config=space).trials
    assert trial.config == {"model": {"layers": [8, 16], "kind": {"name": "a", "p": 1}}, "n": None}


@covers("tune.run: config")
def test_a_choice_may_hold_domains(search):
    space = {"x": tune.choice([tune.uniform(1, 2), tune.uniform(3, 4)])}
    for trial in search(once, config=space, num_samples=4).trials:
        value = trial.config["x"]
        value = value if isinstance(value, float) else value.sample()
        assert 1 <= value < 2 or 3 <= value < 4


@covers("tune.uniform: lower upper")
def test_infinite_values_are_kept(search):
    (trial,) = search(once, config={"x": tune.choice([math.inf])}).trials
    assert math.isinf(trial.config["x"])
