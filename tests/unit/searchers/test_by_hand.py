"""Searchers without a run: asked and told by trial ids, and trials that they make."""

import random

import pytest

from overtone import tune
from overtone.errors import OvertoneError, SpaceError, StorageError
from overtone.searchers.library.hyperopt import HyperOptSearch
from overtone.searchers.library.optuna import OptunaSearch
from overtone.tune.search import (
    AutoSearch,
    BasicVariantGenerator,
    ConcurrencyLimiter,
    Repeater,
    Searcher,
    SearchGenerator,
)
from overtone.tune.search.variant_generator import (
    assign_value,
    format_vars,
    generate_variants,
    parse_spec_vars,
    resolve_nested_dict,
)

SPACE = {"x": tune.uniform(0, 1), "n": {"deep": tune.randint(0, 5)}}


@pytest.mark.parametrize("kind", [HyperOptSearch, OptunaSearch, AutoSearch])
def test_a_searcher_is_asked_and_told(kind):
    searcher = kind(metric="loss", mode="min")
    assert searcher.set_search_properties(None, None, SPACE)
    random.seed(1)
    for i in range(12):
        config = searcher.suggest(f"t{i}")
        assert 0 <= config["x"] <= 1
        searcher.on_trial_result(f"t{i}", {"loss": 2.0, "training_iteration": 1})
        searcher.on_trial_complete(f"t{i}", {"loss": (config["x"] - 0.5) ** 2, "training_iteration": 2})
        searcher.on_trial_complete(f"t{i}", {"loss": 7.0})  # once is enough
        searcher.on_trial_result(f"t{i}", {"loss": 7.0})
    searcher.suggest("failed")
    searcher.on_trial_complete("failed", error=True)
    searcher.on_trial_complete("unknown")


def test_the_space_of_a_searcher_comes_first():
    searcher = HyperOptSearch({"y": tune.uniform(0, 1)}, metric="loss", mode="min")
    assert not searcher.set_search_properties(None, None, {"fixed": 3})
    assert searcher.suggest("a").keys() == {"y", "fixed"}
    assert (searcher._metric, searcher._mode) == ("loss", "min")


def test_known_points_are_learnt_before_a_run_and_by_hand(tmp_path):
    searcher = HyperOptSearch(metric="loss", mode="min")
    searcher.set_search_properties(None, None, SPACE)
    searcher.add_evaluated_point({"x": 0.5, "n": {"deep": 1}}, 0.25)
    searcher.suggest("a")
    searcher.add_evaluated_point({"x": 0.75, "n": {"deep": 2}}, 9.0, error=True)
    assert [one.result is not None and one.result.score for one in searcher.told] == [-0.25, False]
    earlier = tune.run(
        lambda config, t: {"loss": config["x"]} if t < 2 else None, config=SPACE, num_samples=4, metric="loss",
        mode="min", engine=tune.Simulated(1), verbose=0, storage_path=str(tmp_path / "a"),
    )  # fmt: skip
    for given, n in ((earlier, 4), (earlier.trials, 4), (earlier.trials[0], 1)):
        searcher = HyperOptSearch(n_initial_points=1, num_samples=3)
        searcher.add_evaluated_trials(given, "loss")
        tune.run(
            lambda config, t: {"loss": config["x"]} if t < 2 else None, config=SPACE, num_samples=3, metric="loss",
            mode="min", engine=tune.Simulated(1), verbose=0, storage_path=str(tmp_path / "b"), search_alg=searcher,
        )  # fmt: skip
        assert len(searcher.told) == n + 3


def test_state_is_saved_and_restored(tmp_path):
    def begun():
        searcher = HyperOptSearch(metric="loss", mode="min", random_state_seed=1, n_initial_points=1)
        searcher.set_search_properties(None, None, SPACE)
        return searcher

    first = begun()
    for i in range(5):
        first.on_trial_complete(f"t{i}", {"loss": first.suggest(f"t{i}")["x"]})
    first.save(str(tmp_path / "state.pkl"))
    first.save_to_dir(str(tmp_path), "one")
    expected = first.suggest("next")
    for restore in ("restore", "restore_from_dir"):
        second = HyperOptSearch()
        getattr(second, restore)(str(tmp_path / "state.pkl" if restore == "restore" else tmp_path))
        assert second.suggest("next") == expected
    with pytest.raises(StorageError, match="has no searcher-state"):
        HyperOptSearch().restore_from_dir(str(tmp_path / "none"))


class Counts(Searcher):
    def __init__(self):
        super().__init__("result", "max")
        self.n, self.told = 0, []

    def suggest(self, trial_id):
        self.n += 1
        return {"score": self.n}

    def on_trial_complete(self, trial_id, result=None, **more):
        self.told.append(result)


def test_wrappers_work_by_hand():
    limited = ConcurrencyLimiter(Counts(), 2)
    assert [limited.suggest(one) for one in "abc"] == [{"score": 1}, {"score": 2}, None]
    limited.on_trial_complete("a", {"result": 3})
    assert limited.suggest("c") == {"score": 3}
    repeated = Repeater(Counts(), 2)
    assert [repeated.suggest(one)["score"] for one in "abcd"] == [1, 1, 2, 2]
    for name, value in zip("ab", (1, 3), strict=True):
        repeated.on_trial_complete(name, {"result": value})
    assert repeated.searcher.told == [{"result": 2}]


def test_a_batch_is_told_as_a_whole():
    batch = ConcurrencyLimiter(Counts(), 2, batch=True)
    assert [batch.suggest(one) is None for one in "abc"] == [False, False, True]
    batch.on_trial_complete("a", {"result": 1})
    assert batch.suggest("c") is None
    assert batch.searcher.told == []
    batch.on_trial_complete("b", {"result": 2})
    assert batch.searcher.told == [{"result": 1}, {"result": 2}]
    assert batch.suggest("c") is not None


def test_random_search_makes_trials():
    generator = BasicVariantGenerator(max_concurrent=2)
    space = {"x": tune.uniform(0, 1), "y": tune.grid_search([1, 2]), "fixed": 3}
    generator.add_configurations({"test": {"run": "trainable", "config": space, "num_samples": 2}})
    assert generator.total_samples == 4
    trials = [generator.next_trial(), generator.next_trial()]
    assert generator.next_trial() is None
    for trial in trials:
        generator.on_trial_complete(trial.trial_id)
    while not generator.is_finished():
        trials.append(generator.next_trial())
        generator.on_trial_complete(trials[-1].trial_id)
    assert [trial.config["y"] for trial in trials] == [1, 2, 1, 2]
    assert all(trial.evaluated_params == {name: trial.config[name] for name in "xy"} for trial in trials)
    assert len({trial.config["x"] for trial in trials}) == 4
    assert trials[1].experiment_tag.startswith("1_x=0.")
    assert str(trials[0]).startswith("trainable_")
    assert generator.next_trial() is None


def test_random_search_is_saved_where_it_is(tmp_path):
    first = BasicVariantGenerator()
    first.add_configurations({"test": {"run": "a", "config": {"x": tune.uniform(0, 1)}, "num_samples": 4}})
    first.next_trial()
    assert not first.has_checkpoint(str(tmp_path))
    first.save_to_dir(str(tmp_path), "one")
    assert first.has_checkpoint(str(tmp_path))
    second = BasicVariantGenerator()
    second.restore_from_dir(str(tmp_path))
    assert [second.next_trial().config for _ in range(3)] == [first.next_trial().config for _ in range(3)]
    assert second.is_finished()


def test_several_experiments_follow_each_other():
    generator = BasicVariantGenerator()
    generator.add_configurations([{"run": "a", "config": {"i": 1}}, {"run": "b", "config": {"i": 2}}])
    assert [generator.next_trial().config for _ in range(2)] == [{"i": 1}, {"i": 2}]
    generator.add_configurations({"more": {"run": "a", "num_samples": 9}})
    generator.set_finished()
    assert generator.next_trial() is None


def test_a_generator_of_a_searcher_makes_trials():
    generator = SearchGenerator(Counts())
    with pytest.raises(OvertoneError, match="an experiment needs its trainable"):
        generator.add_configurations({"test": {"config": {}}})
    with pytest.raises(OvertoneError, match="1 experiment, and 2"):
        generator.add_configurations({"a": {"run": "x"}, "b": {"run": "x"}})
    generator.add_configurations({"test": {"run": "x", "config": {"fixed": 1}, "num_samples": 2}})
    trials = [generator.next_trial() for _ in range(3)]
    assert [one and one.config for one in trials] == [
        {"fixed": 1, "score": 1},
        {"fixed": 1, "score": 2},
        None,
    ]
    assert generator.is_finished()
    assert trials[0].experiment_tag == "1_score=1"
    generator.on_trial_complete(trials[0].trial_id, {"result": 1})
    assert generator.searcher.told == [{"result": 1}]


def test_variants_are_generated():
    space = {"run": "x", "config": {"a": tune.grid_search([1, 2]), "b": [tune.uniform(0, 1), 7],
             "c": tune.sample_from(lambda spec: spec.config.a * 10)}}  # fmt: skip
    found = list(generate_variants(space, random_state=1))
    assert [values[("config", "a")] for values, _ in found] == [1, 2]
    assert [config["config"]["c"] for _, config in found] == [10, 20]
    assert all(values[("config", "b", 0)] == config["config"]["b"][0] for values, config in found)
    assert found == list(generate_variants(space, random_state=1))
    drawn = [values[("config", "b", 0)] for values, _ in generate_variants(space, constant_grid_search=True)]
    assert drawn[0] == drawn[1]
    assert format_vars(found[0][0]).startswith("a=1,b_0=0.")


def test_a_value_is_assigned_at_its_place():
    spec = {"a": {"b": [1, (2, 3)]}}
    assign_value(spec, ("a", "b", 0), 7)
    assign_value(spec, ("a", "b", 1, 0), 8)
    assert spec == {"a": {"b": [7, (8, 3)]}}
    with pytest.raises(SpaceError, match="a value of a tuple cannot be set"):
        assign_value((1,), (0,), 2)


def test_the_parts_of_a_space_are_listed():
    grid, domain = tune.grid_search([1, 2]), tune.uniform(0, 1)
    constants, domains, grids = parse_spec_vars(
        {"a": grid, "b": {"c": domain, "d": 3}, "e": tune.choice([4, 5])}
    )
    assert constants == [(("b", "d"), 3)]
    assert domains == [(("b", "c"), domain), (("e",), tune.choice([4, 5]))]
    assert [path for path, _ in grids] == [("a",)]
    assert grids[0][1].categories == [1, 2]


def test_values_are_text_for_file_names_and_nested_ones_have_places():
    values = {("a", "b"): 8.1234567, ("a", "c"): [[7, 8]], ("d e?",): " <;%$ok ", ("f",): " "}
    assert format_vars(values) == "b=8.1235,c=7_8,d_e=ok,f="
    assert resolve_nested_dict({"a": {"b": 1, "c": 2}, "d": 3}) == {("a", "b"): 1, ("a", "c"): 2, ("d",): 3}


def test_numpys_seed_repeats_variants():
    np = pytest.importorskip("numpy")
    space = {"x": tune.uniform(0, 1)}
    np.random.seed(5)
    first = [config for _, config in generate_variants(space)]
    np.random.seed(5)
    assert [config for _, config in generate_variants(space)] == first
