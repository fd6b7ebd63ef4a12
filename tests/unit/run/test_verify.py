"""An experiment is verified: what today's code decides is compared with the journal."""

import random
import zipfile
from pathlib import Path

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.limits import Limits
from overtone.engines.simulated import Simulated
from overtone.errors import OvertoneError, StorageError
from overtone.run.verify import Verification, _Again
from overtone.searchers import BasicVariantGenerator
from overtone.searchers.auto.auto import AutoSearch
from overtone.tune.schedulers import (
    DEHB,
    PB2,
    ASHAScheduler,
    FIFOScheduler,
    HyperBandScheduler,
    MedianStoppingRule,
    PopulationBasedTraining,
    PriorBand,
)


def curve(config, t):
    return {"loss": (config["x"] - 0.3) ** 2 + config["y"] / t} if t <= 27 else None


SPACE = {"x": tune.uniform(0, 1), "y": tune.loguniform(1e-3, 1)}


def search(folder, **more):
    given = {
        "config": SPACE, "num_samples": 12, "metric": "loss", "mode": "min", "seed": 3, "name": "exp",
        "engine": Simulated(workers=3), "verbose": 0, "storage_path": str(folder),
    }  # fmt: skip
    tune.run(curve, **{**given, **more})
    return folder / "exp"


@pytest.mark.parametrize(
    "scheduler",
    [None, ASHAScheduler(max_t=27), HyperBandScheduler(max_t=27), MedianStoppingRule(grace_period=3), "auto"],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("searcher", [None, "auto", "sobol"])
def test_the_same_code_decides_the_same(scheduler, searcher, tmp_path):
    found = tune.verify(search(tmp_path, scheduler=scheduler, search_alg=searcher))
    assert found.is_same
    assert (found.n_suggestions, found.notes) == (12, [])
    assert found.n_decisions >= sum(1 for _ in range(12))
    assert found.n_records > found.n_decisions / 2


def test_each_result_and_review_is_a_decision(tmp_path):
    folder = search(tmp_path, scheduler=FIFOScheduler(), num_samples=4)
    found = tune.verify(folder)
    assert found.n_decisions == sum(one.num_results for one in tune.ExperimentAnalysis(str(folder)).trials) == 4 * 27


def test_another_scheduler_decides_otherwise(tmp_path):
    folder = search(tmp_path, scheduler=ASHAScheduler(max_t=27))
    found = tune.verify(folder, scheduler=ASHAScheduler(max_t=27, reduction_factor=2))
    assert not found.is_same
    assert found.decisions
    assert not found.suggestions
    assert "now it would lead to" in str(found.decisions[0])


def test_another_space_suggests_otherwise(tmp_path):
    folder = search(tmp_path)
    found = tune.verify(folder, param_space={**SPACE, "x": tune.uniform(0, 2)})
    assert (len(found.suggestions), found.decisions) == (12, [])
    one = found.suggestions[0]
    assert one.now["x"] != one.then["x"]
    assert one.now["y"] == one.then["y"]
    assert f"record {one.record}: suggestion 0 was" in str(one)


def test_a_scheduler_of_ones_own_must_be_given(tmp_path):
    class Mine(FIFOScheduler):
        pass

    folder = search(tmp_path, scheduler=Mine())
    with pytest.raises(OvertoneError, match=r"scheduler is not plain data .*verify\(path, scheduler=\.\.\.\)"):
        tune.verify(folder)
    assert tune.verify(folder, scheduler=Mine()).is_same


def test_a_space_with_code_needs_the_trainable(tmp_path):
    space = {**SPACE, "z": tune.sample_from(lambda spec: random.random())}
    folder = search(tmp_path, config=space, scheduler=ASHAScheduler(max_t=27))
    found = tune.verify(folder)
    assert (found.n_suggestions, found.decisions) == (0, [])
    assert "param_space is not plain data" in found.notes[0]
    again = tune.verify(folder, param_space=space)
    assert again.n_suggestions == 12
    assert not again.decisions


def test_a_resumed_run_is_verified_as_well(tmp_path):
    def train(config):
        for t in range(1, 4):
            tune.report({"loss": config["x"] / t})

    options = {
        "config": {"x": tune.uniform(0, 1)}, "metric": "loss", "mode": "min", "name": "exp", "verbose": 0,
        "storage_path": str(tmp_path), "engine": "inline", "seed": 1, "scheduler": "asha", "search_alg": "auto",
    }  # fmt: skip
    tune.run(train, num_samples=4, **options)
    tune.run(train, num_samples=9, resume=True, **options)
    found = tune.verify(tmp_path / "exp")
    assert (found.is_same, found.n_suggestions) == (True, 9)


def test_results_of_a_warm_start_are_told_again(tmp_path):
    folder = search(tmp_path / "first")
    later = search(tmp_path / "second", search_alg="auto", warm_start=[folder])
    found = tune.verify(later)
    assert (found.suggestions, found.n_suggestions) == ([], 12)


def test_nothing_is_written(tmp_path):
    folder = search(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    tune.verify(folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def half(value):
    return value / 2


@pytest.mark.parametrize("option", [half, {"power": half}], ids=["function", "nested"])
def test_configs_with_code_need_nothing_to_verify_the_decisions(option, tmp_path):
    space = {**SPACE, "f": tune.choice([option, "none"])}
    folder = search(tmp_path, config=space, scheduler=ASHAScheduler(max_t=27))
    found = tune.verify(folder)
    assert (found.n_suggestions, found.decisions) == (0, [])
    assert found.n_decisions
    assert "param_space is not plain data" in found.notes[0]
    assert tune.verify(folder, param_space=space).n_suggestions == 12


class Weight(tune.Trainable):
    """A trial whose rank changes on its way."""

    def setup(self, config):
        self.x, self.t = config["x"], 0

    def step(self):
        self.t += 1
        return {"loss": self.x / self.t}

    def save_checkpoint(self, folder):
        (Path(folder) / "t").write_text(str(self.t))

    def load_checkpoint(self, folder):
        self.t = int((Path(folder) / "t").read_text())


MUTATIONS = {
    "x": tune.loguniform(1e-3, 1), "y": tune.choice([0.1, 0.5]), "z": [1, 2],
    "w": {"deep": tune.quniform(0, 1, 0.1), "whole": tune.lograndint(1, 9)},
}  # fmt: skip


@pytest.mark.parametrize(
    "make",
    [
        lambda: PopulationBasedTraining(
            time_attr="training_iteration", perturbation_interval=2, hyperparam_mutations=MUTATIONS, log_config=False
        ),
        lambda: PB2(
            time_attr="training_iteration", perturbation_interval=2, hyperparam_bounds={"x": [1e-3, 1]},
            log_config=False,
        ),
        lambda: DEHB(max_t=9),
        lambda: PriorBand(max_t=9),
    ],
    ids=["PBT", "PB2", "DEHB", "PriorBand"],
)  # fmt: skip
def test_schedulers_that_choose_configs_are_made_from_the_journal(make, tmp_path):
    space = {
        "x": tune.loguniform(1e-3, 1), "y": tune.choice([0.1, 0.5]), "z": tune.choice([1, 2]),
        "w": {"deep": tune.quniform(0, 1, 0.1), "whole": tune.lograndint(1, 9)},
    }  # fmt: skip
    tune.run(
        Weight, config=space, num_samples=6, scheduler=make(), metric="loss", mode="min", seed=3, name="exp",
        engine="inline", verbose=0, storage_path=str(tmp_path), stop={"training_iteration": 9},
    )  # fmt: skip
    found = tune.verify(tmp_path / "exp")
    assert found.is_same, found.decisions + found.suggestions
    assert (found.n_suggestions, found.notes) == (6, [])


def test_a_scheduler_that_suggests_may_be_given_as_the_searcher_as_well(tmp_path):
    both = DEHB(max_t=9)
    found = tune.verify(search(tmp_path, scheduler=both, search_alg=both))
    assert (found.is_same, found.n_suggestions) == (True, 12)


class OwnSearch(BasicVariantGenerator):
    def suggest(self, index):
        return {**(super().suggest(index) or {}), "x": 0.25}


def test_both_the_searcher_and_the_space_are_needed_for_suggestions(tmp_path):
    space = {**SPACE, "f": tune.choice([half, "none"])}
    folder = search(tmp_path, config=space, search_alg=OwnSearch())
    for given in ({"param_space": space}, {"search_alg": OwnSearch()}):
        found = tune.verify(folder, **given)
        assert (found.n_suggestions, found.is_same, len(found.notes)) == (0, True, 1)
    found = tune.verify(folder, param_space=space, search_alg=OwnSearch())
    assert (found.n_suggestions, found.is_same, found.notes) == (12, True, [])


def test_a_scheduler_that_suggests_needs_its_space(tmp_path):
    space = {**SPACE, "f": tune.choice([half, "none"])}
    folder = search(tmp_path, config=space, scheduler=DEHB(max_t=9))
    with pytest.raises(OvertoneError, match=r"DEHB also makes the suggestions, and param_space is not plain data"):
        tune.verify(folder)
    found = tune.verify(folder, param_space=space)
    assert (found.n_suggestions, found.is_same) == (12, True)


def test_an_experiment_without_a_space_is_verified(tmp_path):
    folder = search(tmp_path, config={"x": 0.1, "y": 1}, num_samples=2)
    assert tune.verify(folder).n_suggestions == 2


GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.mark.parametrize("name", ["journals/pbt.zip", "journals_format_2/pbt_synch.zip"])
def test_a_population_of_an_earlier_version_is_made_from_its_journal(name, tmp_path):
    zipfile.ZipFile(GOLDEN / name).extractall(tmp_path)
    for kind in ("ended", "killed"):
        found = tune.verify(tmp_path / kind)
        assert (found.is_same, found.n_suggestions, found.notes) == (True, 9, [])


@pytest.mark.parametrize("name", ["journals/dehb.zip", "journals_format_2/dehb.zip"])
def test_a_reason_in_other_words_is_no_other_decision(name, tmp_path):
    zipfile.ZipFile(GOLDEN / name).extractall(tmp_path)
    found = tune.verify(tmp_path / "ended")
    assert (found.is_same, found.n_decisions) == (True, 9)


def test_records_that_do_not_follow_from_each_other_are_named():
    with pytest.raises(StorageError, match=r"record \d+ does not follow from the records before it \(ValueError"):
        tune.verify(GOLDEN / "journal_format_2.jsonl")


@pytest.mark.parametrize("kind", ["auto", "asked"])
def test_a_suggestion_that_an_interruption_left_open_is_made_once(kind):
    """A searcher may note what it suggests: the driver that resumes has a new one."""
    searcher, live = AutoSearch(), AutoSearch()
    for one in (searcher, live):
        one.on_start(SPACE, 1)
    if kind == "asked":  # As a library's, which repeats all suggestions in a resume.
        searcher.replay = "asked"
    again = _Again(searcher, found := Verification(), None)
    again.on_command(m.Suggest(0))
    records = [m.Resumed(1.0, Limits()), m.Suggested(2.0, 0, live.suggest(0))]
    for n, _ in enumerate(again.watched(m.Record(i, event) for i, event in enumerate(records, 2))):
        if n == 0:
            again.on_command(m.Suggest(0))
    assert (found.n_suggestions, found.suggestions) == (1, [])
