"""Parts that users write with the required methods alone, without the bases' constructors or hooks."""

import pytest

from overtone import tune
from overtone.core import messages as m
from overtone.core.protocols import Engine, Observer
from overtone.engines.inline import Inline
from overtone.journal.lines import header
from overtone.tune.schedulers import TrialScheduler
from overtone.tune.search import Searcher


class Few(Searcher):
    def __init__(self):
        self.suggested = []

    def suggest(self, index):
        self.suggested.append(index)
        return {"x": index}


class StopsOdd(TrialScheduler):
    needs_metric = False

    def on_result(self, trial, result):
        return "STOP" if trial.config["x"] % 2 else "CONTINUE"


class AtThree:
    def __call__(self, trial_id, result):
        return result["training_iteration"] >= 3

    def stop_all(self):
        return False


class Noting:
    def __init__(self):
        self.ended = []

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.ended.append(trial.trial_id)


class Counting(Observer):
    n = 0

    def on_record(self, record):
        self.n += 1


class Instant(Engine):
    """Runs each trial at once: it reports 1, 2, ... while it is told to proceed."""

    def __init__(self):
        self._events = [m.CapacityChanged(0.0, {"here": {"cpu": 2.0}})]
        self._t = {}

    def open(self, job):
        """Nothing to prepare."""

    def now(self):
        return 1.0

    def submit(self, commands):
        for command in commands:
            if isinstance(command, m.Start):
                self._t[command.trial_id] = 0
                self._events.append(m.Started(1.0, command.trial_id, command.attempt, "here", 1, "host"))
            if isinstance(command, (m.Start, m.Proceed)):
                t = self._t[command.trial_id] = self._t[command.trial_id] + 1
                metrics = {"score": t, "training_iteration": t}
                self._events.append(m.Reported(1.0, command.trial_id, command.attempt, t, metrics))
            elif isinstance(command, m.Halt):
                self._events.append(m.Ended(1.0, command.trial_id, command.attempt, "halted"))

    def poll(self, timeout_s):
        events, self._events = self._events, []
        return events

    def close(self):
        """Nothing to end."""


def train(config):
    for _ in range(9):
        tune.report({"score": config["x"]})


@pytest.mark.parametrize(("make_engine", "name"), [(Inline, "Inline"), (Instant, "Instant")])
@pytest.mark.parametrize(
    "combine", [lambda one: one, tune.stopper.CombinedStopper], ids=["alone", "combined"]
)
def test_the_required_methods_are_enough(tmp_path, make_engine, name, combine):
    noting, counting, searcher = Noting(), Counting(), Few()
    analysis = tune.run(
        train, search_alg=searcher, scheduler=StopsOdd(), stop=combine(AtThree()), num_samples=4,
        callbacks=[noting, counting], engine=make_engine(), storage_path=str(tmp_path), verbose=0,
    )  # fmt: skip
    assert [trial.last_result["training_iteration"] for trial in analysis.trials] == [3, 1, 3, 1]
    assert {trial.why.rule for trial in analysis.trials} == {"stop", "StopsOdd"}
    assert len(noting.ended) == 4
    assert counting.n > 8
    assert analysis.account is None
    assert header(f"{analysis.experiment_path}/journal.jsonl")["parts"]["engine"] == name


class FromLibrary(tune.search.BasicVariantGenerator):
    def on_start(self, space, seed):
        pass

    def suggest(self, index):
        return {"x": index}


class Elastic(Inline):
    is_elastic = True


class Ends(tune.schedulers.MedianStoppingRule):
    def on_result(self, trial, result):
        return super().on_result(trial, result)


class Steps(tune.Callback):
    def __init__(self):
        self.ended, self.differing = None, []

    def on_step_end(self, iteration, trials, **info):
        self.ended = [str(one.status) for one in trials]

    def on_step_begin(self, iteration, trials, **info):
        if self.ended is not None and self.ended != [str(one.status) for one in trials]:
            self.differing.append(iteration)


def once(config):
    tune.report({"loss": 1.0})


def test_a_searcher_that_suggests_in_its_own_way_ends_after_the_samples(tmp_path):
    done = tune.run(
        once, search_alg=FromLibrary(), config={"x": tune.uniform(0, 1)}, num_samples=3, time_budget_s=20,
        engine="inline", verbose=0, storage_path=tmp_path,
    )  # fmt: skip
    assert len(done.trials) == 3


def test_an_engine_may_state_its_capabilities_as_attributes():
    assert Elastic.capabilities.is_elastic
    assert Elastic.capabilities.calls_pump
    assert not Inline.capabilities.is_elastic


def test_a_scheduler_with_decisions_of_its_own_may_end_trials():
    assert Ends(metric="loss", mode="min").ends_trials
    assert not tune.schedulers.MedianStoppingRule(metric="loss", mode="min").ends_trials


def test_the_limits_of_a_run_config_hold_beside_empty_ones():
    tuner = tune.Tuner(
        once,
        tune_config=tune.TuneConfig(trial_limits={}),
        run_config=tune.RunConfig(trial_limits={"time_s": 1}),
    )
    assert tuner.to_experiment().trial_limits == {"time_s": 1.0}


def test_a_step_begins_before_its_first_record(tmp_path):
    seen = Steps()
    tune.run(
        once, config={"x": tune.grid_search([0, 1, 2])}, metric="loss", mode="min", callbacks=[seen],
        verbose=0, max_concurrent_trials=1, storage_path=tmp_path,
    )  # fmt: skip
    assert seen.ended is not None
    assert not seen.differing


def test_a_run_counts_its_trials(tmp_path):
    run = tune.start(once, engine="inline", verbose=0, storage_path=tmp_path)
    run.wait()
    assert run.tally.n_ended == 1
