"""Searchers in Ray Tune's form: what they are asked and told, in a run and in a replay."""

import random
import time

import pytest

from overtone import ray_form, tune
from overtone.core.goal import Goal
from overtone.core.resources import Resources
from overtone.core.trial import Status, Trial
from overtone.errors import OvertoneError
from overtone.searchers.adapter import Adapter, known_form
from overtone.searchers.library.hyperopt import HyperOptSearch
from overtone.testing.searcher_conformance import SearcherConformance
from overtone.tune.search import (
    BasicVariantGenerator,
    ConcurrencyLimiter,
    Repeater,
    SearchAlgorithm,
    Searcher,
    SearchGenerator,
)


class Mine(Searcher):
    """Draws by Python's generator, and keeps what it is told."""

    draws = random

    def __init__(self, metric=None, mode=None):
        super().__init__(metric, mode)
        self.live, self.told, self.asked, self.space = {}, [], [], None

    def set_search_properties(self, metric, mode, config, **spec):
        self._metric, self._mode = self._metric or metric, self._mode or mode
        self.space = config
        return True

    def suggest(self, trial_id):
        self.asked.append(trial_id)
        self.live[trial_id] = {
            name: domain.quantile(self.draws.random())
            for name, domain in self.space.items()
            if hasattr(domain, "cdf")
        }
        return dict(self.live[trial_id])

    def on_trial_result(self, trial_id, result):
        assert trial_id in self.live

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.told.append((self.live.pop(trial_id), result and result.get(self.metric), error))


class TestMine(SearcherConformance):
    is_learning = takes_points = takes_rewards = False
    n, kills = 9, 4

    def make_searcher(self, **arguments):
        class Plain(Mine):
            def suggest(self, trial_id):
                self.live[trial_id] = {}
                return {}

        return known_form(Plain())


def followed(searcher, tmp_path, n=9, workers=3, **options):
    return tune.run(
        lambda config, t: {"score": config["x"], "deep": {"er": t}} if t <= 3 else None,
        config={"x": tune.uniform(0, 1), "fixed": 5, "more": {"other": 2}}, num_samples=n, metric="score", mode="max",
        search_alg=searcher, engine=tune.Simulated(workers), seed=1, verbose=0, storage_path=str(tmp_path), **options,
    )  # fmt: skip


def test_it_is_asked_and_told_by_the_ids_of_trials(tmp_path):
    mine = Mine()
    found = followed(mine, tmp_path)
    assert mine.asked == [trial.trial_id for trial in found.trials]
    assert (mine.metric, mine.mode) == ("score", "max")
    assert mine.space == {"x": tune.uniform(0, 1), "fixed": 5, "more": {"other": 2}}
    assert sorted(one[1] for one in mine.told) == sorted(trial.config["x"] for trial in found.trials)
    assert all(one[0]["x"] == one[1] and not one[2] for one in mine.told)
    assert all(trial.config["fixed"] == 5 for trial in found.trials)


def test_what_it_draws_repeats_with_the_seed(tmp_path):
    first, second = (followed(Mine(), tmp_path / name) for name in "ab")
    assert [trial.config for trial in first.trials] == [trial.config for trial in second.trials]


def test_values_are_merged_into_the_space(tmp_path):
    class Nested(Mine):
        def suggest(self, trial_id):
            return {"x": 0.5, "more": {"deep": 1}, "new": 3} if super().suggest(trial_id) else None

    config = followed(Nested(), tmp_path, n=1).trials[0].config
    assert config == {"x": 0.5, "fixed": 5, "more": {"other": 2, "deep": 1}, "new": 3}


def test_none_is_not_now_and_finished_is_the_end(tmp_path):
    class Few(Mine):
        def suggest(self, trial_id):
            if len(self.asked) == 5:
                return Searcher.FINISHED
            return None if len(self.live) == 2 else super().suggest(trial_id)

    few = Few()
    assert len(followed(few, tmp_path).trials) == 5
    assert len(few.told) == 5


def test_who_has_none_while_nothing_runs_is_asked_again(tmp_path):
    class Late(Mine):
        n = 0

        def suggest(self, trial_id):
            self.n += 1
            return super().suggest(trial_id) if self.n > 7 else None

    assert len(followed(Late(), tmp_path).trials) == 9


def test_a_trial_that_fails_is_an_error(tmp_path):
    def train(config):
        tune.report({"score": 1})
        raise ValueError("no")

    mine = Mine()
    with pytest.raises(OvertoneError):
        tune.run(
            train, config={"x": tune.uniform(0, 1)}, search_alg=mine, metric="score", mode="max", engine="inline",
            verbose=0, storage_path=str(tmp_path),
        )  # fmt: skip
    assert [one[1:] for one in mine.told] == [(None, True)]


def test_without_a_base_class_one_method_is_enough(tmp_path):
    class Bare:
        def suggest(self, trial_id):
            return {"x": 0.25}

    assert {trial.config["x"] for trial in followed(Bare(), tmp_path).trials} == {0.25}
    assert {trial.config["x"] for trial in followed(Bare, tmp_path / "b").trials} == {0.25}


def test_a_subclass_of_a_library_searcher_may_call_its_parent(tmp_path):
    class Notes(HyperOptSearch):
        def suggest(self, trial_id):
            config = super().suggest(trial_id)
            return {**config, "note": config.get("note", 0) + 1}

        def on_trial_complete(self, trial_id, result=None, error=False):
            super().on_trial_complete(trial_id, result, error)

    notes = Notes(n_initial_points=2)
    found = followed(notes, tmp_path)
    assert {trial.config["note"] for trial in found.trials} == {1}
    assert len(notes.told) == 9
    again = followed(Notes(n_initial_points=2), tmp_path / "b")
    assert [one.config for one in again.trials] == [one.config for one in found.trials]


def test_wrappers_take_it(tmp_path):
    mine = Mine()
    found = followed(Repeater(mine, 3), tmp_path)
    assert [trial.config["__trial_index__"] for trial in found.trials] == [0, 1, 2] * 3
    assert [one[1] for one in mine.told] == pytest.approx([one[0]["x"] for one in mine.told])
    limited = ConcurrencyLimiter(Mine(), 2, batch=True)
    followed(limited, tmp_path / "b")
    assert len(limited.searcher.told) == 9
    assert limited.searcher.live == {}


class Pausing(tune.schedulers.FIFOScheduler):
    """Pauses each trial after its second result."""

    def on_trial_result(self, tune_controller, trial, result):
        return self.PAUSE if result["training_iteration"] == 2 else self.CONTINUE


def test_it_hears_of_pauses_in_a_run(tmp_path):
    class Hears(Mine):
        def on_pause(self, trial_id):
            self.told.append(("pause", trial_id))

        def on_unpause(self, trial_id):
            self.told.append(("unpause", trial_id))

    for searcher in (Hears("score", "max"), ConcurrencyLimiter(Hears("score", "max"), 1)):
        inner = searcher if isinstance(searcher, Hears) else searcher.searcher._given
        options = {
            "storage_path": tmp_path,
            "name": type(searcher).__name__,
            "engine": tune.Simulated(workers=1),
        }
        tune.run(
            lambda config, t: {"score": config["x"]}, config={"x": tune.uniform(0, 1)}, num_samples=2,
            search_alg=searcher, scheduler=Pausing(), stop={"training_iteration": 4}, verbose=0, **options,
        )  # fmt: skip
        pauses = [one for one in inner.told if one[0] in ("pause", "unpause")]
        assert [one[0] for one in pauses].count("pause") == 2
        assert [one[0] for one in pauses].count("unpause") == 2
        assert {one[1] for one in pauses} == set(inner.asked)


def test_who_limits_itself_is_not_limited(tmp_path):
    class Limits(Mine):
        def set_max_concurrency(self, max_concurrent):
            self.most = max_concurrent
            return True

        def suggest(self, trial_id):
            return super().suggest(trial_id) if len(self.live) < self.most else None

    limits = Limits()
    limited = ConcurrencyLimiter(limits, 2, batch=True)
    assert (limits.most, limited.max_concurrent, limited.batch) == (2, 0, False)
    assert len(followed(limited, tmp_path).trials) == 9


def trial_of(index, config, value):
    trial = Trial(f"t{index}", index, config, Resources.of({"cpu": 1}), Status.TERMINATED, suggestion=index)
    return trial, Goal("score", "max").result({"score": value, "training_iteration": 1}, 1)


def test_a_replay_that_suggests_something_else_tells_no_result_of_it():
    class Private(Mine):
        draws = random.Random(0)

        def add_evaluated_point(self, parameters, value, error=False, pruned=False, intermediate_values=None):
            self.points = [*getattr(self, "points", []), (parameters, value)]

    given = Private()
    searcher = Adapter(given)
    searcher.goal = Goal("score", "max")
    searcher.on_start({"x": tune.uniform(0, 1)}, 1)
    searcher.suggest(0)
    searcher.on_suggested(0, {"x": 0.125})  # as the journal has it
    kept = searcher.suggest(1)
    searcher.on_suggested(1, {"x": float(repr(kept["x"]))})
    for index, config in ((0, {"x": 0.125}), (1, kept)):
        trial, result = trial_of(index, config, 3.0)
        searcher.on_result(trial, result)
        searcher.on_trial_end(trial)
    assert given.points == [({"x": 0.125}, 3.0)]
    assert [one[1] for one in given.told] == [None, 3.0]


def test_earlier_trials_are_evaluated_points(tmp_path):
    class Learns(Mine):
        points = ()

        def add_evaluated_point(self, parameters, value, error=False, pruned=False, intermediate_values=None):
            self.points += ((parameters["x"], value),)

    earlier, learns = followed(Mine(), tmp_path, n=3), Learns()
    followed(learns, tmp_path / "b", n=2, warm_start=earlier.experiment_path)
    assert sorted(learns.points) == sorted((one.config["x"], one.config["x"]) for one in earlier.trials)
    assert len(learns.told) == 2


def test_trials_of_a_scheduler_are_not_its_own():
    given = Mine()
    searcher = Adapter(given)
    searcher.on_start({"x": tune.uniform(0, 1)}, 1)
    trial, result = trial_of(0, {"x": 0.5}, 1.0)
    trial.suggestion = None
    searcher.on_result(trial, result)
    searcher.on_trial_end(trial)
    assert given.told == []


def test_a_search_algorithm_makes_trials(tmp_path):
    class Lists(SearchAlgorithm):
        def __init__(self):
            self.left, self.told = [0.1, 0.2, 0.3], []

        def add_configurations(self, experiments):
            (self.spec,) = experiments.values()

        def next_trial(self):
            trial = type("One", (), {})()
            trial.trial_id, trial.config = f"mine{len(self.left)}", {"x": self.left.pop(0)}
            if not self.left:
                self.set_finished()
            return trial

        def on_trial_complete(self, trial_id, result=None, error=False):
            self.told.append((trial_id, result["score"]))

    lists = Lists()
    found = followed(lists, tmp_path)
    assert [trial.config["x"] for trial in found.trials] == [0.1, 0.2, 0.3]
    assert sorted(lists.told) == [("mine1", 0.3), ("mine2", 0.2), ("mine3", 0.1)]
    mine = Mine()
    assert len(followed(SearchGenerator(mine), tmp_path / "b").trials) == len(mine.told) == 9


@pytest.mark.parametrize(
    "given", [BasicVariantGenerator, BasicVariantGenerator(), HyperOptSearch, None, 3, "auto"]
)
def test_everything_else_is_handed_back(given):
    assert known_form(given) is given
    assert not isinstance(known_form(ConcurrencyLimiter(BasicVariantGenerator(), 2)), Adapter)


def test_one_line_names_the_page_once(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(ray_form, "_advised", set())
    followed(Mine(), tmp_path / "a")
    followed(Mine(), tmp_path / "b")
    assert capfd.readouterr().err.count("docs/new-searcher.md") == 1


def test_an_error_of_its_own_is_shown(tmp_path):
    class Fails(Mine):
        def suggest(self, trial_id):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        followed(Fails(), tmp_path)


def test_a_clock_in_it_does_no_harm_to_a_resume(tmp_path):
    class Clock(Mine):
        def suggest(self, trial_id):
            self.live[trial_id] = {"x": time.perf_counter() % 1}
            return self.live[trial_id]

    def run(**options):
        return followed(Clock(), tmp_path, name="it", **options)

    before = [one.config for one in run(n=4).trials]
    after = run(n=8, resume=True)
    assert [one.config for one in after.trials][:4] == before
    assert len(after.trials) == 8
