"""Ask and tell: the caller's own loop runs the trials of a study."""

import gc
import json
import math
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from overtone import tune
from overtone.control.answers import ControlError
from overtone.errors import ArgumentError, OvertoneError, StorageError, UsageError
from overtone.journal.lock import LockHeldError
from overtone.run.attached import attach
from overtone.run.verify import verify
from overtone.tune.schedulers import MedianStoppingRule

SPACE = {"x": tune.uniform(0, 1)}


@pytest.fixture
def ask_tell(tmp_path):
    """`tune.ask_tell` of a small study below `tmp_path`, without files of trials."""
    defaults = {
        "name": "s",
        "storage_path": tmp_path,
        "metric": "loss",
        "mode": "min",
        "seed": 1,
        "files": False,
    }
    return lambda space=SPACE, **options: tune.ask_tell(space, **{**defaults, **options})


def journal(folder):
    return [json.loads(line) for line in (folder / "s" / "journal.jsonl").read_text("utf-8").splitlines()]


def results(study):
    return {one.trial_id: [row["loss"] for row in one.results()] for one in study.trials}


def is_replayable(study):
    return verify(study.folder).is_same


# --- the loop of an Optuna user --------------------------------------------------------------


def test_a_loop_asks_and_tells(ask_tell):
    with ask_tell(num_samples=5) as study:
        values = []
        while (trial := study.ask()) is not None:
            values.append(trial.config["x"])
            study.tell(trial, trial.params["x"])
        assert trial is None
    assert len(values) == 5
    assert study.best_value == min(values)
    assert study.best_params == study.best_config == {"x": min(values)}
    assert study.best_trial.config == study.best_config
    assert [one.config["x"] for one in study.trials] == values
    assert [one.status for one in study.analysis.trials] == ["TERMINATED"] * 5
    assert is_replayable(study)


def test_a_config_is_suggested_when_it_is_asked_for_and_knows_all_that_was_told(ask_tell):
    """No suggestion waits: after n asks there are n trials."""
    with ask_tell(search_alg="auto") as study:
        for n in range(1, 8):
            trial = study.ask()
            assert len(study.trials) == n
            study.tell(trial, trial.config["x"])
            assert len(study.trials) == n


def test_several_trials_are_open_at_once_and_told_in_any_order(ask_tell):
    with ask_tell() as study:
        trials = [study.ask() for _ in range(4)]
        assert [one.number for one in trials] == [0, 1, 2, 3]
        for value, trial in enumerate(reversed(trials)):
            study.tell(trial, value)
        assert [one.last_result["loss"] for one in study.trials] == [3, 2, 1, 0]
        assert study.ask().number == 4


def test_threads_ask_report_and_tell_at_once(ask_tell):
    n_workers, n_each, n_steps = 8, 6, 3
    with ask_tell(scheduler=None) as study:

        def work(_):
            ids = []
            for _ in range(n_each):
                trial = study.ask()
                for step in range(n_steps):
                    assert trial.report(trial.config["x"] + step)
                study.tell(trial)
                ids.append(trial.trial_id)
            return ids

        with ThreadPoolExecutor(n_workers) as pool:
            ids = [one for found in pool.map(work, range(n_workers)) for one in found]
        assert len(set(ids)) == n_workers * n_each == len(study.trials)
        assert all(one.num_results == n_steps and one.status == "TERMINATED" for one in study.trials)
    assert is_replayable(study)


def test_several_threads_report_results_of_one_trial(ask_tell):
    with ask_tell() as study:
        trial = study.ask()
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(trial.report, range(40)))
        study.tell(trial)
        assert sorted(results(study)[trial.trial_id]) == list(range(40))


# --- reports ----------------------------------------------------------------------------------


def test_a_scheduler_stops_trials_and_telling_a_stopped_trial_is_optional(ask_tell):
    n_steps = []
    with ask_tell(
        scheduler=tune.create_scheduler("asha", max_t=9, reduction_factor=3), num_samples=9
    ) as study:
        while (trial := study.ask()) is not None:
            n_steps.append(0)
            while trial.report(loss=trial.number + 1 / trial.iteration if trial.iteration else 9):
                n_steps[-1] += 1
                if trial.iteration == 20:
                    raise AssertionError("max_t does not end it")
            assert trial.is_over
            if trial.number % 2:
                study.tell(trial)
    assert max(n_steps) == 8
    assert min(n_steps) < 8
    assert {one.status for one in study.trials} == {"TERMINATED"}
    assert is_replayable(study)


def test_a_stop_criterion_ends_a_trial(ask_tell):
    with ask_tell(stop={"training_iteration": 2}) as study:
        trial = study.ask()
        assert trial.report(1)
        assert not trial.report(0.5)
        with pytest.raises(UsageError, match="was stopped: it takes no more results"):
            trial.report(0.4)


def test_a_told_value_that_repeats_the_last_report_is_one_result(ask_tell):
    with ask_tell() as study:
        trial = study.ask()
        trial.report(0.5)
        trial.report(0.25)
        study.tell(trial, 0.25)
        assert results(study)[trial.trial_id] == [0.5, 0.25]
        other = study.ask()
        other.report(0.5)
        study.tell(other, 0.125)
        assert results(study)[other.trial_id] == [0.5, 0.125]


def test_iterations_may_be_given(ask_tell):
    with ask_tell() as study:
        trial = study.ask()
        trial.report(0.5, training_iteration=10)
        trial.report(0.4)
        assert trial.iteration == 11
        for wrong in (11, 3, True, 12.0):
            with pytest.raises(ArgumentError, match="must be a whole number above 11"):
                trial.report(0.3, training_iteration=wrong)
        study.tell(trial)
        assert [row["training_iteration"] for row in study.trials[0].results()] == [10, 11]


def test_nan_is_a_result_and_never_the_best(ask_tell):
    with ask_tell() as study:
        first, second = study.ask(), study.ask()
        assert first.report(math.nan)
        study.tell(first, math.nan)
        study.tell(second, 3.0)
        assert study.best_trial.trial_id == second.trial_id
        assert [one.num_results for one in study.trials] == [1, 1]


def test_several_metrics_have_a_pareto_front(ask_tell):
    with ask_tell(metric=["loss", "size"], mode=["min", "min"]) as study:
        for values in ([1, 3], [2, 2], [3, 3]):
            study.tell(study.ask(), values)
        assert [one.last_result["size"] for one in study.best_trials] == [3, 2]
        with pytest.raises(ArgumentError, match="must be 2 numbers, or a dict"):
            study.tell(study.ask(), 1.0)


def test_constraints_rule_trials_out(ask_tell):
    with ask_tell(constraints={"ms": 50}) as study:
        study.tell(study.ask(), {"loss": 0.1, "ms": 90})
        study.tell(study.ask(), {"loss": 0.2, "ms": 40})
        assert study.best_value == 0.2


def test_without_a_metric_the_first_result_names_it(ask_tell):
    with ask_tell(metric=None, mode=None) as study:
        study.tell(study.ask(), {"accuracy": 0.5})
        study.tell(study.ask(), {"accuracy": 0.7})
        assert study.best_value == 0.7


def test_a_checkpoint_is_kept_and_found_after_a_resume(ask_tell, tmp_path):
    with ask_tell() as study:
        trial = study.ask()
        state = tmp_path / "state"
        state.write_text("after 2")
        trial.report(1.0)
        trial.report(0.5, checkpoint=str(state))
        trial.report(0.4)
    with ask_tell(resume=True) as study:
        again = study.ask()
        assert (again.trial_id, again.resumed_at, again.iteration) == (trial.trial_id, 3, 2)
        with open(again.checkpoint) as file:
            assert file.read() == "after 2"
        again.report(0.4)
        again.report(0.3)
        study.tell(again)
        assert [row["training_iteration"] for row in study.trials[0].results()] == [1, 2, 3, 4]


# --- the ends of trials and of the search --------------------------------------------------------


def test_failures_and_pruned_trials_are_recorded(ask_tell):
    with ask_tell() as study:
        failed, pruned = study.ask(), study.ask()
        study.tell(failed, state="failed", error=MemoryError("too large"))
        pruned.report(3.0)
        study.tell(pruned, state="pruned")
        assert [one.status for one in study.trials] == ["ERROR", "TERMINATED"]
        assert "MemoryError: too large" in study.trials[0].error


def test_a_failed_trial_is_asked_again_if_failures_are_allowed(ask_tell):
    with ask_tell(max_failures=1) as study:
        trial = study.ask()
        trial.report(1.0)
        study.tell(trial, state="failed")
        again = study.ask()
        assert (again.trial_id, again.config, again.resumed_at) == (trial.trial_id, trial.config, 1)
        study.tell(again, 0.5)
        assert study.ask().trial_id != trial.trial_id


def test_states_of_optuna_are_taken(ask_tell):
    states = pytest.importorskip("optuna").trial.TrialState
    with ask_tell() as study:
        for state, value in ((states.COMPLETE, 1.0), (states.FAIL, None), (states.PRUNED, None)):
            study.tell(study.ask(), value, state)
        assert [one.status for one in study.trials] == ["TERMINATED", "ERROR", "TERMINATED"]


def test_ask_gives_none_while_the_last_trials_are_open(ask_tell):
    with ask_tell(num_samples=2) as study:
        first, second = study.ask(), study.ask()
        assert study.ask() is None
        study.tell(first, 1)
        assert study.ask() is None
        study.tell(second, 2)
        assert study.ask() is None
        assert study.best_value == 1
    assert "finished" in overtone("ls", study.folder.parent)


def test_ask_gives_none_after_the_time_budget(ask_tell):
    with ask_tell(time_budget_s=0.5) as study:
        while (trial := study.ask()) is not None:
            while trial.report(1.0) and trial.iteration < 5:
                pass
            study.tell(trial)
        assert study.ask() is None


def test_a_grid_is_asked_once(ask_tell):
    with ask_tell({"a": tune.grid_search([1, 2, 3])}, num_samples=1) as study:
        found = []
        while (trial := study.ask()) is not None:
            found.append(trial.config["a"])
            study.tell(trial, trial.config["a"])
    assert found == [1, 2, 3]


def test_a_limit_of_concurrent_trials_is_an_error_or_a_wait(ask_tell):
    limited = tune.search.ConcurrencyLimiter(tune.create_searcher("sobol"), max_concurrent=1)
    with ask_tell(search_alg=limited) as study:
        first = study.ask()
        with pytest.raises(OvertoneError, match="no trial is free now: 1 is open"):
            study.ask()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(study.ask, math.inf)
            study.tell(first, 1)
            second = waiting.result(60)
        assert second.number == 1


def test_an_enqueued_config_is_asked_first(ask_tell):
    with ask_tell({**SPACE, "y": tune.uniform(0, 1)}) as study:
        study.enqueue({"x": 0.25, "y": 0.5})
        partial_id = study.enqueue({"x": 0.75})
        first, second, third = study.ask(), study.ask(), study.ask()
        assert first.config == {"x": 0.25, "y": 0.5}
        assert (second.trial_id, second.config["x"]) == (partial_id, 0.75)
        assert 0 <= second.config["y"] <= 1
        assert third.config["x"] != 0.25
        with pytest.raises(OvertoneError):
            study.enqueue({"z": 1})


# --- mistakes ---------------------------------------------------------------------------------


def test_mistakes_of_a_caller_are_named(ask_tell):
    with ask_tell() as study:
        trial, other = study.ask(), study.ask()
        with pytest.raises(ArgumentError, match="reported no result"):
            study.tell(trial)
        with pytest.raises(ArgumentError, match="'loss' must be a number, not None"):
            study.tell(trial, {"loss": None})
        with pytest.raises(ArgumentError, match="reported no 'loss': it has 'los'"):
            study.tell(trial, {"los": 1})
        with pytest.raises(ArgumentError, match="'loss' must be a number"):
            study.tell(trial, {"loss": "low"})
        with pytest.raises(ArgumentError, match="state='done': must be \"complete\""):
            study.tell(trial, 1, "done")
        with pytest.raises(UsageError, match="needs a result"):
            trial.report()
        study.tell(trial, 1)
        with pytest.raises(UsageError, match=f"trial {trial.trial_id} was told already"):
            study.tell(trial, 1)
        with pytest.raises(UsageError, match="has been told: it takes no more results"):
            trial.report(1)
        with pytest.raises(
            UsageError, match=f"is not open in this process: the open trials are {other.trial_id}"
        ):
            study.tell(trial.trial_id, 1)
        with pytest.raises(UsageError, match="trial 77 does not exist"):
            study.tell(77, 1)
        study.tell(other.number, 2)
        assert results(study) == {trial.trial_id: [1], other.trial_id: [2]}


def test_a_stopped_trial_takes_no_other_result(ask_tell):
    with ask_tell(stop={"training_iteration": 1}) as study:
        trial = study.ask()
        assert not trial.report(0.5)
        with pytest.raises(UsageError, match="was stopped at iteration 1 and takes no more results"):
            study.tell(trial, 0.4)
        study.tell(trial, 0.5)


def test_a_trial_of_another_study_is_refused(ask_tell):
    with ask_tell() as study, ask_tell(name="t") as other:
        trial = other.ask()
        with pytest.raises(UsageError, match="belongs to another study than s"):
            study.tell(trial, 1)


def test_a_closed_study_says_how_to_continue(ask_tell):
    study = ask_tell()
    trial = study.ask()
    study.close()
    study.close()
    for call in (
        study.ask,
        partial(study.tell, trial, 1),
        partial(trial.report, 1),
        study.enqueue,
        study.stop,
    ):
        with pytest.raises(
            UsageError, match=r"study s is closed: tune.ask_tell\(..., name='s', resume=True\)"
        ):
            call()
    assert len(study.trials) == 1


@pytest.mark.parametrize(
    "name",
    ["hyperband", "hb_bohb", "successive_halving", "pbt", "pb2", "pasha", "priorband", "resource_changing"],
)
def test_schedulers_that_pause_are_refused_by_name(ask_tell, tmp_path, name):
    mutations = {"hyperparam_mutations": {"x": [0, 1]}} if name == "pbt" else {}
    if name == "pb2":
        mutations = {"hyperparam_bounds": {"x": [0, 1]}}
    scheduler = tune.create_scheduler(name, **mutations)
    with pytest.raises(
        UsageError, match=f'scheduler={type(scheduler).__name__}: it pauses .* choose "asha", "median"'
    ):
        ask_tell(scheduler=scheduler)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("name", ["asha", "median", "moasha", "auto", "fifo", "dehb"])
def test_schedulers_that_only_stop_are_taken(ask_tell, name):
    with ask_tell(scheduler=name, num_samples=12) as study:
        for _ in range(12):
            trial = study.ask()
            for _ in range(20):
                if not trial.report(trial.config["x"]):
                    break
            study.tell(trial)
    assert name == "dehb" or is_replayable(study)  # A scheduler that is the searcher is not verified.


def test_a_soft_median_rule_is_refused(ask_tell):
    for scheduler in (MedianStoppingRule(hard_stop=False), MedianStoppingRule(min_time_slice=5)):
        with pytest.raises(UsageError, match="it pauses or restarts trials"):
            ask_tell(scheduler=scheduler)


def test_a_scheduler_that_pauses_unannounced_ends_the_study_with_its_name(ask_tell):
    class Pausing(tune.schedulers.TrialScheduler):
        def on_result(self, trial, result):
            return tune.schedulers.Pause(tune.schedulers.Why("own"))

    study = ask_tell(scheduler=Pausing())
    trial = study.ask()
    with pytest.raises(UsageError, match=f"the scheduler paused trial {trial.trial_id}"):
        trial.report(1)
    with pytest.raises(UsageError, match="the scheduler paused"):
        study.ask()
    study.close()


def test_an_exception_of_the_scheduler_reaches_the_caller(ask_tell):
    class Broken(tune.schedulers.TrialScheduler):
        def on_result(self, trial, result):
            raise ZeroDivisionError("in the scheduler")

    study = ask_tell(scheduler=Broken())
    trial = study.ask()
    with pytest.raises(ZeroDivisionError, match="in the scheduler"):
        study.tell(trial, 1)
    study.close()
    with ask_tell(resume=True) as study:
        assert study.ask().trial_id == trial.trial_id


def test_a_child_process_is_told_to_hand_its_results_back(ask_tell):
    with ask_tell() as study:
        trial = study.ask()
        pid = os.fork()
        if pid == 0:
            try:
                trial.report(1)
            except UsageError as error:
                os._exit(7 if "hand the results" in str(error) else 8)
            os._exit(9)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        study.tell(trial, 1)


# --- the folder ----------------------------------------------------------------------------------


def test_a_second_process_gets_the_holder_and_advice(ask_tell, tmp_path):
    held = rf"(?s){os.getpid()}.*One process hands out the trials"
    with ask_tell(), pytest.raises(LockHeldError, match=held):
        ask_tell(resume=True)
    with ask_tell(resume=True):
        pass


def test_a_study_that_nobody_has_any_more_releases_its_folder(ask_tell):
    study = ask_tell()
    trial = study.ask()
    del study
    gc.collect()
    assert trial.report(1.0)  # A trial keeps its study.
    del trial
    gc.collect()
    with ask_tell(resume=True) as study:
        assert study.ask().resumed_at == 1


def test_a_script_may_end_without_closing(tmp_path):
    script = f"""
from overtone import tune
study = tune.ask_tell({{"x": tune.uniform(0, 1)}}, metric="loss", mode="min", name="s", storage_path={str(tmp_path)!r})
study.tell(study.ask(), 1)
open_one = study.ask()
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert journal(tmp_path)[-1]["e"] == "ended"
    assert journal(tmp_path)[-1]["cause"] == "halted"


def test_a_resume_hands_out_the_open_trials_first(ask_tell):
    with ask_tell() as study:
        study.tell(study.ask(), 1.0)
        left = [study.ask() for _ in range(3)]
        left[1].report(0.5)
        left[1].report(0.4)
        queued = study.enqueue({"x": 0.125})
    with ask_tell(resume=True) as study:
        again = [study.ask() for _ in range(5)]
        assert [(one.trial_id, one.config) for one in again[:3]] == [
            (one.trial_id, one.config) for one in left
        ]
        assert [one.resumed_at for one in again] == [0, 2, 0, None, None]
        assert again[3].trial_id == queued
        assert again[1].report(0.3)
        assert again[1].iteration == 3
        study.tell(again[1])
        assert results(study)[left[1].trial_id] == [0.5, 0.4, 0.3]
    assert is_replayable(study)


def test_a_resumed_trial_may_start_over(ask_tell):
    with ask_tell(scheduler="asha") as study:
        trial = study.ask()
        for loss in (0.5, 0.4):
            trial.report(loss)
    with ask_tell(scheduler="asha", resume=True) as study:
        again = study.ask()
        again.report(0.6, training_iteration=1)
        again.report(0.45)
        again.report(0.3)
        study.tell(again)
        assert results(study)[trial.trial_id] == [0.5, 0.4, 0.3]


def test_a_finished_study_is_resumed_for_more_trials(ask_tell):
    with ask_tell(num_samples=2) as study:
        for _ in range(2):
            study.tell(study.ask(), 1)
        assert study.ask() is None
        assert study.enqueue({"x": 0.5}) == ""
    with ask_tell(num_samples=3, resume="AUTO") as study:
        first, second = study.ask(), study.ask()
        assert 0.5 in (first.config["x"], second.config["x"])
        study.tell(first, 0.5)
        study.tell(second, 0.5)
        assert study.ask() is None
        assert len(study.trials) == 4


def test_a_full_disk_is_an_error_of_the_report_and_nothing_is_half_written(ask_tell, tmp_path, monkeypatch):
    from overtone.journal import writer
    from overtone.run import loop

    study = ask_tell()
    trial = study.ask()
    trial.report(1.0)
    monkeypatch.setattr(loop, "JOURNAL_PATIENCE_S", 0.0)
    monkeypatch.setattr(loop, "JOURNAL_PAUSES_S", (0.001, 0.001))

    def full(self, data, count):
        raise StorageError("No space left on device")

    monkeypatch.setattr(writer.JournalWriter, "_write", full)
    with pytest.raises(StorageError, match="No space left"):
        trial.report(0.5)
    with pytest.raises(StorageError, match="No space left"):
        study.ask()
    monkeypatch.undo()
    study.close()
    with ask_tell(resume=True) as study:
        again = study.ask()
        assert (again.trial_id, again.resumed_at) == (trial.trial_id, 1)


# --- commands and requests -------------------------------------------------------------------


def overtone(*arguments):
    command = [sys.executable, "-m", "overtone", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def test_the_commands_work_on_a_study(ask_tell):
    with ask_tell() as study:
        for _ in range(3):
            study.tell(study.ask(), 1.0)
        trial = study.ask()
        assert "running" in overtone("ls", study.folder.parent)
        assert trial.trial_id in overtone("show", study.folder)
        assert "Added" in overtone("why", study.folder, trial.trial_id) or trial.trial_id
        overtone("ctl", study.folder, "note", "hello")
        overtone("ctl", study.folder, "add", "--config", '{"x": 0.5}')
        assert study.ask().config == {"x": 0.5}
        overtone("ctl", study.folder, "stop", trial.trial_id)
        assert not trial.report(0.1)
        overtone("report", study.folder, "-o", study.folder / "report.html")
    assert "hello" in (study.folder / "journal.jsonl").read_text("utf-8")


def test_a_request_stops_one_trial_or_the_search_and_cannot_pause(ask_tell):
    with ask_tell() as study:
        trial, other, third = study.ask(), study.ask(), study.ask()
        run = attach(study.folder)
        run.stop_trial(trial.trial_id)
        assert not trial.report(1.0)
        assert other.report(1.0)
        with pytest.raises(ControlError, match="pause_trial: its trials are run by the program"):
            run.pause(other.trial_id)
        run.stop()
        assert study.ask() is None
        assert not other.report(0.5)
        study.tell(third, 0.25)
        assert study.ask() is None
        assert study.best_value == 0.25
        assert {one.status for one in study.trials} == {"TERMINATED"}


def test_callbacks_and_files_are_as_in_a_run(ask_tell, tmp_path):
    heard = []

    class Heard(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **_):
            heard.append((trial.trial_id, result["loss"]))

        def on_trial_complete(self, iteration, trials, trial, **_):
            heard.append(trial.trial_id)

    with ask_tell(callbacks=[Heard()], files=True) as study:
        trial = study.ask()
        trial.report(0.5)
        study.tell(trial, 0.25)
    assert heard == [(trial.trial_id, 0.5), (trial.trial_id, 0.25), trial.trial_id]
    lines = (study.folder / trial.trial_id / "result.json").read_text("utf-8").splitlines()
    assert [json.loads(line)["loss"] for line in lines] == [0.5, 0.25]


def test_a_callback_cannot_wait_for_its_own_study(ask_tell):
    problems = []

    class Asking(tune.Callback):
        def on_trial_result(self, **_):
            try:
                study.ask()
            except UsageError as error:
                problems.append(str(error))

    with ask_tell(callbacks=[Asking()]) as study:
        study.tell(study.ask(), 1)
    assert len(problems) == 1
    assert "in the study's own thread" in problems[0]


def test_a_child_process_that_ends_leaves_the_study_alone(tmp_path):
    script = f"""
import os, sys
from overtone import tune
study = tune.ask_tell({{"x": tune.uniform(0, 1)}}, metric="loss", mode="min", name="s", storage_path={str(tmp_path)!r})
trial = study.ask()
pid = os.fork()
if pid:
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    study.tell(trial, 1)
    print(study.best_value)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["0", "1"]


def test_ctrl_c_ends_the_program_and_a_resume_continues(tmp_path, ask_tell):
    script = f"""
from overtone import tune
study = tune.ask_tell({{"x": tune.uniform(0, 1)}}, metric="loss", mode="min", name="s", storage_path={str(tmp_path)!r})
n = 0
while True:
    trial = study.ask()
    study.tell(trial, n)
    n += 1
    print(n, flush=True)
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        n_told = 0
        for n_told, _ in enumerate(process.stdout, 1):
            if n_told == 20:
                process.send_signal(signal.SIGINT)
        error = process.stderr.read()
    assert "interrupt" in error.lower()
    with ask_tell(resume=True, seed=None) as study:
        assert sum(one.num_results for one in study.trials) in (n_told, n_told + 1)
        study.tell(study.ask(), 0.5)


def test_no_thread_is_left(ask_tell):
    before = set(threading.enumerate())
    with ask_tell() as study:
        study.tell(study.ask(), 1)
    assert set(threading.enumerate()) <= before


# --- the names of Optuna ---------------------------------------------------------------------


def test_an_objective_of_optunas_runs(ask_tell):
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        for step in range(3):
            trial.report(x + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    optuna = pytest.importorskip("optuna")
    scheduler = MedianStoppingRule(time_attr="training_iteration", grace_period=1, min_samples_required=2)
    with ask_tell(mode=None, direction="minimize", scheduler=scheduler) as study:
        study.optimize(objective, n_trials=6)
        assert len(study.trials) == 6
        assert {trial.status for trial in study.trials} == {"TERMINATED"}
        assert [row.get("step") for row in study.trials[0].results()] == [0, 1, 2, None]
        assert any(trial.num_results < 4 for trial in study.trials)
        with pytest.raises(ZeroDivisionError):
            study.optimize(lambda trial: 1 / 0, n_trials=1)
        assert study.trials[-1].status == "ERROR"


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda study, trial: trial.suggest_float("y", 0, 1), r"suggest_float\('y'\): the space has no 'y'"),
        (lambda study, trial: trial.suggest_int("x", 5, 7), r"the space gave 0\.\d+, which the call excludes"),
        (lambda study, trial: trial.suggest_categorical("x", ["a"]), "which the call excludes"),
        (lambda study, trial: trial.set_user_attr("a", 1), r"AskedTrial has no 'set_user_attr': trial.report\("),
        (lambda study, trial: trial.repot(1), "has no 'repot'; did you mean 'report'"),
        (lambda study, trial: study.enqueue_trial({}), r"Study has no 'enqueue_trial': study.enqueue\("),
        (lambda study, trial: study.best_vaule, "did you mean 'best_value'"),
        (lambda study, trial: study.optimize(print, n_jobs=2), r"no argument 'n_jobs': .* tune.run\("),
        (lambda study, trial: tune.create_study(), r"tune.ask_tell\(space, metric="),
        (lambda study, trial: tune.ask_tell({}, pruner=None), "no argument 'pruner': give scheduler="),
        (lambda study, trial: tune.ask_tell({}, direction="down"), "direction='down': give mode="),
    ],
)
def test_a_name_of_optunas_is_answered_with_the_one_here(ask_tell, use, message):
    with ask_tell() as study, pytest.raises((AttributeError, OvertoneError), match=message):
        use(study, study.ask())
