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


@pytest.mark.parametrize(("make_engine", "name"), [(Inline, "Inline"), (Instant, "custom")])
@pytest.mark.parametrize("combine", [lambda one: one, tune.stopper.CombinedStopper], ids=["alone", "combined"])
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
