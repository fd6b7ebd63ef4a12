"""Searchers beside running trials, and after a resume."""

from threading import Event

import pytest

from overtone import tune
from overtone.engines.local import Local
from overtone.engines.simulated import Simulated
from overtone.tune.search import ConcurrencyLimiter, Searcher


class Slow(Searcher):
    """Has no second suggestion until the trial of the first has ended."""

    def __init__(self, ended):
        self.ended = ended

    def suggest(self, index):
        assert index == 0 or self.ended.wait(60), "nobody looked after the first trial meanwhile"
        return {"x": index}

    def on_trial_end(self, trial):
        """Told of ends, so that it is one that learns."""


def test_trials_go_on_while_a_suggestion_takes_its_time(tmp_path):
    ended = Event()

    class Watch(tune.Callback):
        def on_trial_complete(self, iteration, trials, trial, **info):
            ended.set()

    found = tune.run(
        lambda config: {"loss": config["x"]}, num_samples=2, search_alg=Slow(ended), engine=Local(cpus=2),
        callbacks=[Watch()], storage_path=str(tmp_path), verbose=0, metric="loss", mode="min",
    )  # fmt: skip
    assert [trial.config["x"] for trial in found.trials] == [0, 1]


def curve(config, t):
    return {"loss": (config["x"] - 0.3) ** 2 + 1 / t} if t <= 4 else None


@pytest.mark.parametrize(
    ("sampler", "wrap"), [("tpe", lambda one: ConcurrencyLimiter(one, 2)), ("nsga2", lambda one: one)]
)
def test_a_killed_search_goes_on_as_it_would_have(tmp_path, sampler, wrap):
    """From a journal that was cut in the middle it comes to the same trials."""
    optuna_search = pytest.importorskip("overtone.tune.search.optuna").OptunaSearch
    pytest.importorskip("optuna")

    def search(**arguments):
        found = tune.run(
            curve, config={"x": tune.uniform(0, 1), "n": tune.qrandint(2, 64, 2)}, num_samples=16,
            search_alg=wrap(optuna_search(sampler=sampler)), metric="loss", mode="min", engine=Simulated(3),
            storage_path=str(tmp_path), name="exp", verbose=0, scheduler="asha", **arguments,
        )  # fmt: skip
        return [(trial.config["x"], trial.config["n"]) for trial in found.trials]

    whole = search(seed=3)
    journal = tmp_path / "exp" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    assert search(resume=True) == whole
    assert len(whole) == 16


@pytest.mark.parametrize("search_alg", ["auto", "optuna"])
def test_a_population_is_perturbed_on_one_slot(tmp_path, search_alg):
    class Climb(tune.Trainable):
        def setup(self, config):
            self.height, self.lr = 0.0, config["lr"]

        def step(self):
            self.height += self.lr
            return {"height": self.height}

        def save_checkpoint(self, folder):
            return {"height": self.height}

        def load_checkpoint(self, saved):
            self.height = saved["height"]

    pbt = tune.schedulers.PopulationBasedTraining(
        "training_iteration", perturbation_interval=4, hyperparam_mutations={"lr": tune.uniform(0, 1)}
    )
    tune.run(
        Climb, config={"lr": tune.uniform(0, 1)}, num_samples=6, metric="height", mode="max", scheduler=pbt, seed=3,
        search_alg=search_alg, stop={"training_iteration": 20}, engine="inline", storage_path=tmp_path, name="exp",
        verbose=0,
    )  # fmt: skip
    assert '"restart"' in (tmp_path / "exp" / "journal.jsonl").read_text()


@pytest.mark.parametrize("n_samples", [2, 4])
def test_a_line_tells_of_a_search_that_the_searcher_ended_early(tmp_path, capsys, n_samples):
    tune.run(
        lambda config, t: {"loss": config["x"]} if t <= 1 else None, config={"x": tune.choice([1, 2])},
        num_samples=n_samples, search_alg="auto", metric="loss", mode="min", engine=Simulated(1),
        storage_path=str(tmp_path), verbose=1,
    )  # fmt: skip
    line = "the search ended after 2 of 4 trials: the searcher has no more configurations"
    assert (line in capsys.readouterr().err) == (n_samples == 4)
