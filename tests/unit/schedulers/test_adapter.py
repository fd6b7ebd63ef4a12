"""Schedulers in Ray Tune's form: what their hooks get, what their answers do, and what a replay tells them."""

import random
from random import Random

import pytest

from overtone import ray_form, tune
from overtone.core import messages as m
from overtone.core.controller import Controller
from overtone.core.goal import Goal
from overtone.core.limits import Limits
from overtone.errors import GoalError, OvertoneError
from overtone.schedulers.adapter import Adapter, known_form
from overtone.testing.scheduler_conformance import METRICS, NODES, PERILS, SchedulerConformance
from overtone.testing.world import World
from overtone.tune.schedulers import (
    AsyncHyperBandScheduler,
    FIFOScheduler,
    HyperparameterSchedule,
    Linear,
    MedianStoppingRule,
    ResourceChangingScheduler,
    TrialScheduler,
)


class Whole(TrialScheduler):
    """Defines all hooks, draws from Python's generator, pauses at 2 and stops the worse half at 4."""

    draws = random

    def __init__(self):
        super().__init__()
        self.heard = []
        self.scores = {}

    def set_search_properties(self, metric, mode, **spec):
        self._metric, self._mode = metric, mode
        return True

    def on_trial_add(self, tune_controller, trial):
        assert trial in tune_controller.get_live_trials()
        self.heard.append(("add", trial.trial_id))

    def on_trial_result(self, tune_controller, trial, result):
        assert tune_controller.get_trial(trial.trial_id) is trial
        t = result["training_iteration"]
        self.heard.append((t, trial.trial_id))
        if t == 2:
            return self.PAUSE
        if t == 4:
            self.scores[trial] = result[self._metric]
            if result[self._metric] < sorted(self.scores.values())[len(self.scores) // 2]:
                return TrialScheduler.STOP
        if t == 5 and self.draws.random() < 0.3:
            tune_controller.stop_trial(self.draws.choice(sorted(tune_controller.get_live_trials(), key=str)))
            return TrialScheduler.NOOP
        return TrialScheduler.CONTINUE

    def on_trial_complete(self, tune_controller, trial, result):
        assert result["training_iteration"] == trial.last_result["training_iteration"]
        self.heard.append(("complete", trial.trial_id))

    def on_trial_error(self, tune_controller, trial):
        self.heard.append(("error", trial.trial_id))

    def on_trial_remove(self, tune_controller, trial):
        self.heard.append(("remove", trial.trial_id))

    def choose_trial_to_run(self, tune_controller):
        waiting = (
            (trial.PENDING, trial.PAUSED) if (trial := next(iter(tune_controller.get_trials()), None)) else ()
        )
        ready = [one for one in tune_controller.get_trials() if one.status in waiting]
        ready = [one for one in ready if tune_controller.trial_executor.has_resources_for_trial(one)]
        return self.draws.choice(ready) if ready else None

    def debug_string(self):
        return f"{len(self.heard)} calls"


class Outside(Whole):
    """Draws from a generator of its own, which goes on: no replay draws the same."""

    draws = Random()


class Early(FIFOScheduler):
    """The hook's name in the first versions."""

    def on_result(self, trial_runner, trial, result):
        return self.STOP if result["training_iteration"] == 6 else self.CONTINUE


class NoBase:
    def on_trial_result(self, tune_controller, trial, result):
        return "STOP" if result["training_iteration"] == 7 else "CONTINUE"


class TestWhole(SchedulerConformance):
    def make_scheduler(self):
        return Adapter(Whole())


class TestNoBase(SchedulerConformance):
    def make_scheduler(self):
        return Adapter(NoBase())


def controller_of(scheduler):
    goal = Goal(["score"], "max", scheduler.time_attr, is_needed=scheduler.needs_metric)
    return Controller(scheduler, goal, limits=Limits(total=9, max_failures=1), seed=7)


def config(index):
    return {
        "x": index,
        "length": 12,
        "pace_s": 1.0 + index % 4,
        "saves": ("reports", "asked", "never")[index % 3],
    }


def report(config, t):
    return {"score": METRICS["random"](config, t)}


@pytest.mark.parametrize("seed", range(5))
def test_who_uses_outside_information_is_told_what_was_decided(seed):
    Outside.draws.seed(seed)
    first = Outside()
    controller = controller_of(Adapter(first))
    world = World(controller, Random(seed), config, NODES, PERILS, report)
    kept, heard = [], []
    while not controller.is_done:
        assert world.step()
        more = len(world.records) - len(kept)
        kept += [frozenset(world.kept)] * more
        heard += [list(first.heard)] * more
    for n in range(1, len(world.records), 17):
        records = world.records[:n]
        given = Outside()
        again = controller_of(Adapter(given))
        for record in records:
            outcome, differs = again.replay(record)
            assert not differs
            assert repr(outcome.choices) == repr(record.choices)
        assert given.heard == heard[n - 1]
        if again.is_done:
            continue
        later = World(again, Random(2), config, {}, PERILS, report)
        later.kept, now = set(kept[n - 1]), records[-1].event.time
        later.at(now, m.Resumed(now, Limits(total=9, max_failures=1)))
        later.at(now, m.CapacityChanged(now, NODES))
        later.run()
        assert all(trial.status.is_final for trial in again.trials.values())


def followed(scheduler, tmp_path, n=6, **options):
    return tune.run(
        lambda config, t: {"score": config["x"] + t / 100, "deep": {"er": t}} if t <= 8 else None,
        config={"x": tune.uniform(0, 1)}, num_samples=n, metric="score", mode="max", scheduler=scheduler,
        engine=tune.Simulated(2), seed=1, verbose=0, storage_path=str(tmp_path), **options,
    )  # fmt: skip


def test_each_hook_is_called_as_ray_calls_it(tmp_path):
    whole = Whole()
    found = followed(whole, tmp_path)
    assert whole.metric == "score"
    assert whole.mode == "max"
    ends = [one for one in whole.heard if one[0] in ("complete", "remove", "error")]
    assert sorted(one[1] for one in ends) == sorted(trial.trial_id for trial in found.trials)
    assert {one[0] for one in whole.heard} >= {"add", 1, 2, 3, 4}
    assert {trial.num_results for trial in found.trials} >= {4}


@pytest.mark.parametrize(
    ("scheduler", "last"),
    [
        (Early, 6),
        (NoBase, 7),
        (NoBase(), 7),
        (HyperparameterSchedule({"x": Linear(2, over=4)}, NoBase()), 7),
        (ResourceChangingScheduler(NoBase()), 7),
    ],
)
def test_any_form_runs(scheduler, last, tmp_path):
    found = followed(scheduler, tmp_path)
    assert {trial.num_results for trial in found.trials} == {last}


def test_a_result_has_one_level_and_the_names_of_ray(tmp_path):
    class Looks(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            assert result["deep/er"] == result["training_iteration"]
            assert result["trial_id"] == trial.trial_id == str(trial)
            assert result["done"] is False
            assert trial.status == trial.RUNNING
            assert not trial.is_finished()
            assert trial.last_result["score"] == result["score"]
            assert trial.config == trial.evaluated_params
            assert tune_controller.search_alg.metric == "score"
            return super().on_trial_result(tune_controller, trial, result)

    assert len(followed(Looks(), tmp_path).trials) == 6


def test_others_are_stopped_and_paused_by_the_controller(tmp_path):
    class Rival(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            rivals = [
                one for one in tune_controller.get_trials() if one is not trial and not one.is_finished()
            ]
            for one in rivals:
                if one.last_result.get("score", 1) < result["score"] - 0.3:
                    tune_controller.stop_trial(one)
                elif result["training_iteration"] == 3:
                    tune_controller.pause_trial(one)
            return self.CONTINUE

    found = followed(Rival(), tmp_path)
    assert any(trial.num_results < 8 for trial in found.trials)
    assert max(found.trials, key=lambda one: one.config["x"]).num_results == 8


def test_a_paused_trial_goes_on_with_the_config_that_was_set(tmp_path):
    class Sets(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            if result["training_iteration"] == 3 and trial.config["x"] < 5:
                tune_controller.pause_trial(trial, should_checkpoint=False)
                trial.set_experiment_tag("new")
                trial.set_config({"x": 10.0})
                return self.NOOP
            return self.CONTINUE

    found = followed(Sets(), tmp_path, n=2)
    assert [trial.config["x"] for trial in found.trials] == [10.0, 10.0]


def test_a_status_that_is_set_is_the_schedulers_own_mark(tmp_path):
    class Unpauses(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            for one in tune_controller.get_trials():
                if one.status == one.PAUSED:
                    tune_controller._set_trial_status(one, one.PENDING)
                    assert one.status == one.PENDING
            with pytest.raises(
                ValueError, match="is RUNNING and cannot be set to TERMINATED: call stop_trial"
            ):
                trial.status = trial.TERMINATED
            return self.PAUSE if result["training_iteration"] == 2 else self.CONTINUE

        def choose_trial_to_run(self, tune_controller):
            ready = [one for one in tune_controller.get_trials() if one.status == one.PENDING]
            return ready[0] if ready else super().choose_trial_to_run(tune_controller)

    assert {trial.num_results for trial in followed(Unpauses(), tmp_path).trials} == {8}


def test_who_chooses_none_while_nothing_runs_gets_the_first_that_waits(tmp_path):
    class Never(NoBase):
        def choose_trial_to_run(self, tune_controller):
            return None

    assert {trial.num_results for trial in followed(Never(), tmp_path).trials} == {7}


@pytest.mark.parametrize(
    ("answer", "error"),
    [("GO", r"Wrong.on_trial_result returned 'GO': return CONTINUE"), (None, "returned None")],
)
def test_an_answer_that_is_no_flag_is_an_error(answer, error, tmp_path):
    class Wrong(FIFOScheduler):
        def on_trial_result(self, tune_controller, trial, result):
            return answer

    with pytest.raises((ValueError, OvertoneError), match=error):
        followed(Wrong(), tmp_path)


def test_a_goal_is_named_once(tmp_path):
    class Owns(TrialScheduler):
        def __init__(self):
            self._metric, self._mode = "other", "min"

        def on_trial_result(self, tune_controller, trial, result):
            return self.CONTINUE

    assert known_form(Owns()).metric == "other"
    with pytest.raises(GoalError, match="metric='score' in the call but metric='other' in the scheduler"):
        followed(Owns(), tmp_path)

    class Refuses(FIFOScheduler):
        def set_search_properties(self, metric, mode, **spec):
            return False

        def on_trial_remove(self, tune_controller, trial): ...

    with pytest.raises(GoalError, match=r"Refuses.set_search_properties\('score', 'max'\) returned False"):
        followed(Refuses(), tmp_path)


def test_a_trial_that_waits_is_removed(tmp_path):
    class First(FIFOScheduler):
        removed = ()

        def on_trial_result(self, tune_controller, trial, result):
            for one in tune_controller.get_trials():
                if one.status == "PENDING":
                    tune_controller.stop_trial(one)
            return self.CONTINUE

        def on_trial_remove(self, tune_controller, trial):
            self.removed += (trial.trial_id,)
            super().on_trial_remove(tune_controller, trial)

    first = First()
    found = followed(first, tmp_path)
    assert [trial.num_results for trial in found.trials] == [8, 8, 0, 0, 0, 0]
    assert len(first.removed) == 4


def test_one_line_names_the_page_once(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(ray_form, "_advised", set())
    followed(NoBase(), tmp_path / "a")
    followed(NoBase(), tmp_path / "b")
    assert capfd.readouterr().err.count("docs/new-scheduler.md") == 1


@pytest.mark.parametrize("given", [FIFOScheduler(), TrialScheduler, "asha", None, MedianStoppingRule])
def test_everything_else_is_handed_back(given):
    assert known_form(given) is given


def test_state_is_saved_and_restored_by_hand(tmp_path):
    class Counts(FIFOScheduler):
        def __init__(self):
            self.n, self.lock = 0, lambda: None

        def on_trial_result(self, tune_controller, trial, result):
            self.n += 1
            return self.CONTINUE

    counts, path = Counts(), str(tmp_path / "state.pkl")
    followed(counts, tmp_path)
    counts.save(path)
    fresh = Counts()
    fresh.restore(path)
    assert fresh.n == counts.n == 48


def test_search_properties_are_set_once():
    asha = AsyncHyperBandScheduler()
    assert asha.set_search_properties("loss", "min")
    assert (asha.metric, asha.mode, asha._metric) == ("loss", "min", "loss")
    assert not asha.set_search_properties("loss", None)
    assert not asha.set_search_properties(None, "min")
    assert asha.set_search_properties(None, None)
