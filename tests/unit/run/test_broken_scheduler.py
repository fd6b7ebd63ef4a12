"""A scheduler that raises: the user sees its error, nothing is lost, and mended it goes on."""

import pytest

from overtone import tune
from overtone.engines.inline import Inline
from overtone.tune.schedulers import TrialScheduler

HOOKS = {  # by name: at which of its calls it raises
    "on_trial_add": 2, "on_result": 7, "review": 2, "on_trial_end": 2, "on_decision": 7,
    "choose_trial_to_run": 3, "next_decision": 6,
}  # fmt: skip


class Breaks(TrialScheduler):
    """Runs all trials, and raises at one of the calls of one hook."""

    def __init__(self, hook=""):
        self.hook, self.left = hook, HOOKS.get(hook, 0)

    def _called(self, hook):
        self.left -= hook == self.hook
        if hook == self.hook and self.left <= 0:
            raise RuntimeError(f"a bug in {hook}")

    def on_trial_add(self, trial):
        self._called("on_trial_add")

    def on_result(self, trial, result):
        self._called("on_result")
        return self.CONTINUE

    def review(self, trials):
        self._called("review")
        return ()

    def on_trial_end(self, trial):
        self._called("on_trial_end")

    def on_decision(self, trial, decision):
        self._called("on_decision")

    def choose_trial_to_run(self, trials):
        self._called("choose_trial_to_run")
        return trials.first_runnable()

    def next_decision(self, trial):
        self._called("next_decision")
        return 0.0


def curve(config, t):
    return {"score": config["lr"] * t} if t <= 5 else None


def train(config):
    for t in range(1, 6):
        tune.report(curve(config, t))


@pytest.mark.parametrize(
    ("trainable", "engine"),
    [(curve, lambda: tune.Simulated(2)), (train, Inline)],
    ids=["simulated", "inline"],
)
@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("at_once", [None, 1])
def test_it_goes_on_where_it_broke_once_it_is_mended(at_once, hook, trainable, engine, tmp_path, capsys):
    options = {
        "config": {"lr": tune.grid_search([1.0, 2.0, 3.0, 4.0])}, "metric": "score", "mode": "max", "seed": 1,
        "verbose": 1, "storage_path": str(tmp_path), "name": "search", "tensorboard": False,
        "max_concurrent_trials": at_once,
    }  # fmt: skip
    with pytest.raises(RuntimeError, match=f"a bug in {hook}"):
        tune.run(trainable, scheduler=Breaks(hook), engine=engine(), **options)
    found = tune.run(trainable, scheduler=Breaks(), engine=engine(), resume=True, **options)
    assert "resuming" in capsys.readouterr().err
    assert [trial.status for trial in found.trials] == ["TERMINATED"] * 4
    reported = [[one["score"] for one in trial.results()] for trial in found.trials]
    assert reported == [[lr * t for t in range(1, 6)] for lr in (1.0, 2.0, 3.0, 4.0)]
