"""Searchers: those of one's own, wrappers, and those of libraries."""

from __future__ import annotations

from pathlib import Path

import pytest
from subject import covers, part, tune

SPACE = {"x": tune.uniform(0, 10), "kind": tune.choice(["a", "b"])}


def parabola(config):
    return {"loss": (config["x"] - 3) ** 2, "gain": -((config["x"] - 3) ** 2)}


class Own(tune.search.Searcher):
    """Counts up, and keeps what it was told."""

    def __init__(self, metric=None, mode=None, limit=99):
        super().__init__(metric=metric, mode=mode)
        self.told, self.count, self.limit = [], 0, limit

    def set_search_properties(self, metric, mode, config, **spec):
        self.told.append(("properties", metric, mode, sorted(config)))
        return super().set_search_properties(metric, mode, config)

    def suggest(self, trial_id):
        if self.count >= self.limit:
            return tune.search.Searcher.FINISHED
        self.count += 1
        self.told.append(("suggest", trial_id))
        return {"x": float(self.count)}

    def on_trial_result(self, trial_id, result):
        self.told.append(("result", trial_id, result["loss"]))

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.told.append(("complete", trial_id, result and result["loss"], error))

    def save(self, checkpoint_path):
        Path(checkpoint_path).write_text(str(self.count))

    def restore(self, checkpoint_path):
        self.count = int(Path(checkpoint_path).read_text())


@covers("tune.search.Searcher: metric mode", "tune.search.Searcher.suggest: trial_id", "tune.search.Searcher.on_trial_complete: trial_id result error",
        "tune.search.Searcher.metric", "tune.search.Searcher.mode")  # fmt: skip
def test_a_searcher_of_ones_own(search):
    own = Own(metric="loss", mode="min")
    trials = search(parabola, search_alg=own, num_samples=3, max_concurrent_trials=1).trials
    assert [trial.config["x"] for trial in trials] == [1, 2, 3]
    assert [each for each in own.told if each[0] == "complete"] == [
        ("complete", trial.trial_id, trial.last_result["loss"], False) for trial in trials
    ]
    assert (own.metric, own.mode) == ("loss", "min")


@covers("tune.search.Searcher.on_trial_result: trial_id result")
def test_a_searcher_is_told_of_results(search):
    def two(config):
        tune.report({"loss": 5})
        tune.report({"loss": 4})

    own = Own(metric="loss", mode="min")
    (trial,) = search(two, search_alg=own).trials
    assert next(each for each in own.told if each[0] == "result") == ("result", trial.trial_id, 5)


@covers("tune.search.Searcher.on_trial_complete: error")
def test_a_searcher_is_told_of_errors(search):
    def fails(config):
        raise RuntimeError("broken")

    own = Own(metric="loss", mode="min")
    (trial,) = search(fails, search_alg=own, raise_on_failed_trial=False).trials
    assert [each for each in own.told if each[0] == "complete"] == [("complete", trial.trial_id, None, True)]


@covers("tune.search.Searcher.FINISHED")
def test_a_searcher_ends_the_search(search):
    assert len(search(parabola, search_alg=Own("loss", "min", limit=2), num_samples=9).trials) == 2


@covers("tune.search.Searcher.set_search_properties: metric mode config")
def test_a_searcher_takes_the_properties_of_the_run(search):
    own = Own()
    search(parabola, search_alg=own, metric="loss", mode="min", config={"y": 1})
    assert own.told[0] == ("properties", "loss", "min", ["y"])


@covers("tune.search.Searcher.save: checkpoint_path", "tune.search.Searcher.restore: checkpoint_path", "tune.search.Searcher.save_to_dir: checkpoint_dir session_str",
        "tune.search.Searcher.restore_from_dir: checkpoint_dir", "tune.search.Searcher.CKPT_FILE_TMPL")  # fmt: skip
def test_a_searcher_is_saved(tmp_path):
    own, other = Own(), Own()
    own.count = 5
    own.save_to_dir(str(tmp_path), session_str="one")
    assert (tmp_path / own.CKPT_FILE_TMPL.format("one")).exists()
    other.restore_from_dir(str(tmp_path))
    assert other.count == 5


@covers(
    "tune.search.Searcher.add_evaluated_trials: trials_or_analysis metric",
    "tune.search.Searcher.add_evaluated_point: parameters value error pruned intermediate_values",
)
def test_earlier_trials_are_added(search):
    class Learns(Own):
        points = []

        def add_evaluated_point(self, parameters, value, error=False, pruned=False, intermediate_values=None):
            self.points.append((parameters["x"], value, error, pruned, intermediate_values))

    analysis = search(parabola, config={"x": tune.grid_search([1, 2])})
    learns = Learns(metric="loss", mode="min")
    learns.add_evaluated_trials(analysis, metric="loss")
    assert sorted((x, value, error, pruned) for x, value, error, pruned, _ in learns.points) == [
        (1, 4, False, False),
        (2, 1, False, False),
    ]


@covers("tune.search.ConcurrencyLimiter: searcher max_concurrent")
def test_the_limiter_holds_a_searcher_back(search):
    class Most(tune.Callback):
        most = 0

        def on_trial_result(self, iteration, trials, trial, result, **info):
            self.most = max(self.most, sum(each.status == "RUNNING" for each in trials))

    most = Most()
    limited = tune.search.ConcurrencyLimiter(Own("loss", "min"), max_concurrent=1)
    analysis = search(parabola, search_alg=limited, num_samples=3, callbacks=[most])
    assert most.most == 1
    assert len(analysis.trials) == 3


@covers("tune.search.ConcurrencyLimiter: batch max_concurrent searcher")
def test_the_limiter_waits_for_a_batch(tmp_path):
    limited = tune.search.ConcurrencyLimiter(Own("loss", "min"), max_concurrent=2, batch=True)
    assert limited.suggest("a") == {"x": 1}
    assert limited.suggest("b") == {"x": 2}
    assert limited.suggest("c") is None
    limited.on_trial_complete("a", {"loss": 1})
    assert limited.suggest("c") is None
    limited.on_trial_complete("b", {"loss": 1})
    assert limited.suggest("c") == {"x": 3}


@covers("tune.search.Repeater: searcher repeat", "tune.search.Repeater.on_trial_complete: trial_id result")
def test_the_repeater_averages(search):
    own = Own("loss", "min")
    trials = search(
        parabola, search_alg=tune.search.Repeater(own, repeat=2), num_samples=4, max_concurrent_trials=1
    ).trials
    assert [trial.config["x"] for trial in trials] == [1, 1, 2, 2]
    ends = [each for each in own.told if each[0] == "complete"]
    assert len(ends) == 2
    assert [end[2] for end in ends] == [4, 1]


@covers("tune.search.Repeater: set_index")
def test_the_repeater_tells_trials_their_index(search):
    trials = search(
        parabola, search_alg=tune.search.Repeater(Own("loss", "min"), repeat=2, set_index=True), num_samples=2
    ).trials
    assert sorted(trial.config["__trial_index__"] for trial in trials) == [0, 1]
    trials = search(
        parabola,
        search_alg=tune.search.Repeater(Own("loss", "min"), repeat=2, set_index=False),
        num_samples=2,
    ).trials
    assert "__trial_index__" not in trials[0].config


@covers("tune.create_searcher: search_alg", "tune.search.create_searcher")
def test_searchers_are_made_by_their_name():
    assert isinstance(tune.create_searcher("random"), tune.search.BasicVariantGenerator)
    assert isinstance(tune.search.create_searcher("variant_generator"), tune.search.BasicVariantGenerator)
    with pytest.raises(Exception):
        tune.create_searcher("no such searcher")


@covers("tune.search.BasicVariantGenerator.get_state", "tune.search.BasicVariantGenerator.set_state: state", "tune.search.BasicVariantGenerator.CKPT_FILE_TMPL",
        "tune.search.BasicVariantGenerator.save_to_dir: dirpath session_str")  # fmt: skip
def test_the_generator_is_saved(tmp_path):
    generator = tune.search.BasicVariantGenerator()
    assert isinstance(generator.get_state(), dict)
    generator.save_to_dir(str(tmp_path), "one")
    assert list(tmp_path.iterdir())


@covers("tune.search.SearchGenerator: searcher", "tune.search.SearchAlgorithm.add_configurations: experiments", "tune.search.SearchAlgorithm.next_trial",
        "tune.search.SearchAlgorithm.is_finished", "tune.search.SearchAlgorithm.set_finished")  # fmt: skip
def test_a_search_generator_makes_trials(tmp_path):
    generator = tune.search.SearchGenerator(Own("loss", "min"))
    generator.add_configurations(
        tune.Experiment("one", run=parabola, num_samples=2, storage_path=str(tmp_path))
    )
    assert not generator.is_finished()
    assert generator.next_trial().config["x"] == 1
    assert generator.next_trial().config["x"] == 2
    generator.set_finished()
    assert generator.is_finished()


@covers(
    "tune.search.BasicVariantGenerator",
    "tune.search.SearchAlgorithm.next_trial",
    "tune.search.SearchAlgorithm.total_samples",
)
def test_the_generator_stands_alone(tmp_path):
    generator = tune.search.BasicVariantGenerator()
    generator.add_configurations(
        tune.Experiment(
            "one",
            run=parabola,
            num_samples=2,
            config={"x": tune.grid_search([1, 2])},
            storage_path=str(tmp_path),
        )
    )
    trials = []
    while (trial := generator.next_trial()) is not None:
        trials.append(trial.config["x"])
    assert trials == [1, 2, 1, 2]
    assert generator.total_samples == 4


@covers(
    "tune.search.search_generator.SearchGenerator",
    "tune.search.search_algorithm.SearchAlgorithm",
    "tune.search.SearchAlgorithm",
)
def test_a_search_algorithm_of_ones_own():
    assert issubclass(tune.search.SearchGenerator, tune.search.SearchAlgorithm)
    assert issubclass(tune.search.BasicVariantGenerator, tune.search.SearchAlgorithm)


@covers(
    "tune.search.UNRESOLVED_SEARCH_SPACE",
    "tune.search.UNDEFINED_METRIC_MODE",
    "tune.search.UNDEFINED_SEARCH_SPACE",
)
def test_texts_of_errors_have_names():
    assert all(
        isinstance(getattr(tune.search, name), str)
        for name in ("UNRESOLVED_SEARCH_SPACE", "UNDEFINED_METRIC_MODE", "UNDEFINED_SEARCH_SPACE")
    )


@covers(
    "tune.search.hyperopt.HyperOptSearch: metric mode points_to_evaluate n_initial_points random_state_seed gamma space"
)
def test_hyperopt(search):
    pytest.importorskip("hyperopt")
    HyperOptSearch = part("tune.search.hyperopt").HyperOptSearch

    def values(seed, **arguments):
        searcher = HyperOptSearch(metric="loss", mode="min", points_to_evaluate=[{"x": 2.5, "kind": "a"}], n_initial_points=3,
                                  random_state_seed=seed, gamma=0.3, **arguments)  # fmt: skip
        config = {} if arguments else SPACE
        return [
            trial.config["x"]
            for trial in search(
                parabola, config=config, search_alg=searcher, num_samples=5, max_concurrent_trials=1
            ).trials
        ]

    first = values(3)
    assert first[0] == 2.5
    assert values(3) == first != values(4)
    assert values(3, space=SPACE) == first


@covers("tune.search.hyperopt.HyperOptSearch.convert_search_space: spec prefix")
def test_hyperopt_converts_spaces():
    hyperopt = pytest.importorskip("hyperopt")
    converted = part("tune.search.hyperopt").HyperOptSearch.convert_search_space(
        {"x": tune.uniform(0, 1), "deep": {"y": tune.choice([1, 2])}}
    )
    assert 0 <= hyperopt.pyll.stochastic.sample(converted["x"]) <= 1
    assert hyperopt.pyll.stochastic.sample(converted["deep"]["y"]) in (1, 2)


@covers("tune.search.hyperopt.HyperOptSearch: space")
def test_hyperopt_takes_its_own_spaces(search):
    hp = pytest.importorskip("hyperopt").hp
    searcher = part("tune.search.hyperopt").HyperOptSearch(
        {"x": hp.uniform("x", 5, 6)}, metric="loss", mode="min"
    )
    assert all(
        5 <= trial.config["x"] <= 6 for trial in search(parabola, search_alg=searcher, num_samples=2).trials
    )


@covers("tune.search.optuna.OptunaSearch: space metric mode points_to_evaluate seed")
def test_optuna(search):
    pytest.importorskip("optuna")
    OptunaSearch = part("tune.search.optuna").OptunaSearch

    def values(seed, **arguments):
        searcher = OptunaSearch(
            metric="loss", mode="min", points_to_evaluate=[{"x": 2.5, "kind": "a"}], seed=seed, **arguments
        )
        config = {} if arguments else SPACE
        return [
            trial.config["x"]
            for trial in search(
                parabola, config=config, search_alg=searcher, num_samples=3, max_concurrent_trials=1
            ).trials
        ]

    first = values(3)
    assert first[0] == 2.5
    assert values(3) == first != values(4)
    assert values(3, space=SPACE)[0] == 2.5


@covers("tune.search.optuna.OptunaSearch: sampler study_name storage evaluated_rewards")
def test_optuna_takes_a_sampler_and_a_storage(search, tmp_path):
    optuna = pytest.importorskip("optuna")
    storage = optuna.storages.InMemoryStorage()
    searcher = part("tune.search.optuna").OptunaSearch(
        space=SPACE, metric="loss", mode="min", sampler=optuna.samplers.RandomSampler(seed=1), study_name="mine", storage=storage,
        points_to_evaluate=[{"x": 1.0, "kind": "a"}], evaluated_rewards=[4.0],
    )  # fmt: skip
    search(parabola, search_alg=searcher, num_samples=2)
    study = optuna.load_study(study_name="mine", storage=storage)
    assert study.trials[0].value == 4.0
    assert len(study.trials) == 3


@covers("tune.search.optuna.OptunaSearch.convert_search_space: spec")
def test_optuna_converts_spaces():
    optuna = pytest.importorskip("optuna")
    converted = part("tune.search.optuna").OptunaSearch.convert_search_space(
        {"x": tune.uniform(0, 1), "n": tune.randint(1, 5)}
    )
    assert converted["x"] == optuna.distributions.FloatDistribution(0, 1)
    assert converted["n"] == optuna.distributions.IntDistribution(1, 4)


@covers("tune.search.optuna.OptunaSearch: space")
def test_optuna_takes_a_function_as_its_space(search):
    pytest.importorskip("optuna")

    def space(trial):
        trial.suggest_float("x", 5, 6)
        return {"constant": 1}

    searcher = part("tune.search.optuna").OptunaSearch(space, metric="loss", mode="min")
    (trial,) = search(parabola, search_alg=searcher).trials
    assert 5 <= trial.config["x"] <= 6
    assert trial.config["constant"] == 1


@covers("tune.search.optuna.OptunaSearch: metric mode")
def test_optuna_optimises_two_metrics(search):
    pytest.importorskip("optuna")
    searcher = part("tune.search.optuna").OptunaSearch(SPACE, metric=["loss", "gain"], mode=["min", "max"])
    assert len(search(parabola, search_alg=searcher, num_samples=3).trials) == 3


@covers("tune.search.ax.AxSearch", "tune.search.nevergrad.NevergradSearch", "tune.search.bohb.TuneBOHB", "tune.search.hebo.HEBOSearch", "tune.search.zoopt.ZOOptSearch",
        "tune.search.bayesopt.BayesOptSearch", "tune.search.optuna.OptunaSearch", "tune.search.hyperopt.HyperOptSearch")  # fmt: skip
@pytest.mark.parametrize(("module", "name"), [("ax", "AxSearch"), ("nevergrad", "NevergradSearch"), ("bohb", "TuneBOHB"), ("hebo", "HEBOSearch"),
                                              ("zoopt", "ZOOptSearch"), ("bayesopt", "BayesOptSearch"), ("optuna", "OptunaSearch"),
                                              ("hyperopt", "HyperOptSearch")])  # fmt: skip
def test_a_searcher_of_a_library_is_imported_without_it(module, name):
    assert isinstance(getattr(part(f"tune.search.{module}"), name), type)


@covers("tune.search.searcher.ConcurrencyLimiter", "tune.search.searcher.Searcher", "tune.search.basic_variant.BasicVariantGenerator",
        "tune.search.concurrency_limiter.ConcurrencyLimiter", "tune.search.repeater.Repeater")  # fmt: skip
def test_searchers_have_their_modules():
    assert part("tune.search.searcher").Searcher is tune.search.Searcher
    assert part("tune.search.basic_variant").BasicVariantGenerator is tune.search.BasicVariantGenerator
    assert part("tune.search.concurrency_limiter").ConcurrencyLimiter is tune.search.ConcurrencyLimiter
    assert part("tune.search.repeater").Repeater is tune.search.Repeater
