"""Callbacks of users: one that raises ends the run, which can be resumed."""

import json
import os
from pathlib import Path

import pytest

from overtone import tune
from overtone.core.protocols import Observer
from overtone.errors import CallbackError, TuneError


class Steps(tune.Trainable):
    """Counts its steps, also over a resume."""

    def setup(self, config):
        self.n = 0

    def step(self):
        self.n += 1
        return {"score": self.n, "pid": os.getpid()}

    def save_checkpoint(self, folder):
        Path(folder, "n").write_text(str(self.n))

    def load_checkpoint(self, folder):
        self.n = int(Path(folder, "n").read_text())


class Broken(tune.Callback):
    """Raises in one hook, the second time."""

    def __init__(self, hook):
        self.n, self.ends, self.pids = 0, 0, set()
        if hook != "on_trial_result":
            setattr(self, hook, self.fail)
        self.hook = hook

    def fail(self, **info):
        self.n += 1
        if self.n == 2:
            raise LookupError("broken")

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.pids.add(result["pid"])
        if self.hook == "on_trial_result":
            self.fail()

    def on_experiment_end(self, trials, **info):
        self.ends += 1


@pytest.fixture
def search(tmp_path):
    def search(*callbacks, **options):
        options = {
            "engine": "local",
            "verbose": 0,
            "tensorboard": False,
            "max_concurrent_trials": 1,
            **options,
        }
        return tune.run(
            Steps,
            name="exp",
            storage_path=tmp_path,
            num_samples=2,
            callbacks=callbacks,
            checkpoint_freq=1,
            stop={"training_iteration": 4},
            **options,
        )

    return search


def results(folder):
    files = sorted(folder.glob("exp/*/result.json"))
    return [[json.loads(line)["score"] for line in one.read_text().splitlines()] for one in files]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


HOOKS = ("on_step_begin", "on_step_end", "on_trial_start", "on_trial_result", "on_trial_save", "on_checkpoint",
         "on_trial_complete")  # fmt: skip


@pytest.mark.parametrize("engine", ["local", "inline"])
@pytest.mark.parametrize("hook", HOOKS)
def test_a_callback_that_raises_ends_the_run_which_can_be_resumed(search, tmp_path, hook, engine, capfd):
    broken = Broken(hook)
    with pytest.raises(TuneError, match=f"Broken.{hook} raised LookupError: broken") as caught:
        search(broken, engine=engine)
    assert isinstance(caught.value, CallbackError)
    assert isinstance(caught.value.__cause__, LookupError)
    assert broken.ends == 1
    assert not any(is_running(pid) for pid in broken.pids - {os.getpid()})
    if hook != "on_step_begin":  # The trials may not have begun.
        assert caught.value.analysis.trials
        analysis = search(engine=engine, resume=True)
        assert [trial.status for trial in analysis.trials] == ["TERMINATED"] * 2
        # A trial that was ending as the run ended may step once more.
        assert {tuple(one) for one in results(tmp_path)} <= {(1, 2, 3, 4), (1, 2, 3, 4, 5)}


def test_a_callback_raises_its_own_exception_where_that_is_asked_for(search):
    with pytest.raises(LookupError, match="broken"):
        search(Broken("on_trial_result"), fail_fast="raise")


def test_a_tuner_raises_it_too(tmp_path):
    config = tune.RunConfig(storage_path=tmp_path, callbacks=[Broken("on_trial_result")], verbose=0)
    with pytest.raises(CallbackError, match="Broken"):
        tune.Tuner(Steps, run_config=config).fit()


def test_a_callback_that_raises_at_the_end_raises_when_all_is_saved(search, tmp_path, capfd):
    class Last(tune.Callback):
        def on_experiment_end(self, trials, **info):
            assert [trial.status for trial in trials] == ["TERMINATED"] * 2
            raise LookupError("late")

    with pytest.raises(CallbackError, match="Last.on_experiment_end raised LookupError: late") as caught:
        search(Last())
    assert len(caught.value.analysis.trials) == 2
    assert results(tmp_path) == [[1, 2, 3, 4]] * 2
    n_lines = len((tmp_path / "exp" / "journal.jsonl").read_text().splitlines())
    search(resume="AUTO")  # It is finished: nothing is left to do.
    assert results(tmp_path) == [[1, 2, 3, 4]] * 2
    assert n_lines > 8


def test_a_callback_that_raises_in_setup_leaves_no_experiment(search, tmp_path):
    class First(tune.Callback):
        def setup(self, **info):
            raise LookupError("early")

    with pytest.raises(LookupError, match="early"):
        search(First())
    assert not (tmp_path / "exp").exists()


def test_an_observer_that_raises_is_disconnected_and_the_run_goes_on(search, tmp_path, capfd):
    class Own(Observer):
        def on_record(self, record):
            raise LookupError("mine")

    search(Own())
    assert results(tmp_path) == [[1, 2, 3, 4]] * 2
    assert "Own raised LookupError: mine" in capfd.readouterr().err


class Stateful(tune.Callback):
    def __init__(self):
        self.seen, self.at_setup = set(), None

    def setup(self, **info):
        self.at_setup = len(self.seen)

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.seen.add((trial.trial_id, result["score"]))

    def get_state(self):
        return {"seen": self.seen}

    def set_state(self, state):
        self.seen = state["seen"]


def test_a_callback_has_its_state_again_after_a_resume(search):
    first = Stateful()
    with pytest.raises(CallbackError):
        search(first, Broken("on_trial_complete"))
    again = Stateful()
    search(again, resume=True)
    assert again.at_setup == len(first.seen) >= 4
    assert {score for _, score in again.seen} >= {1, 2, 3, 4}
    assert len({trial for trial, _ in again.seen}) == 2
    assert first.seen <= again.seen
