"""Callbacks, loggers and reporters."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from subject import covers, part, tune


def reports(config):
    for step in range(2):
        tune.report({"score": step})


class Counter(tune.Trainable):
    def setup(self, config):
        self.count = 0

    def step(self):
        self.count += 1
        if self.config.get("fails") and self.count == 3 and not Path(self.config["fails"]).exists():
            Path(self.config["fails"]).touch()
            raise RuntimeError("once")
        return {"count": self.count, "done": self.count >= 4}

    def save_checkpoint(self, checkpoint_dir):
        Path(checkpoint_dir, "count").write_text(str(self.count))

    def load_checkpoint(self, checkpoint):
        self.count = int(Path(checkpoint, "count").read_text())


class Told(tune.Callback):
    """Keeps the names of hooks and what they were given."""

    def __init__(self):
        self.told = []

    def setup(self, stop=None, num_samples=None, total_num_samples=None, **info):
        self.told.append(("setup", stop, num_samples, total_num_samples))

    def on_step_begin(self, iteration, trials, **info):
        self.told.append(("step_begin", iteration, len(trials)))

    def on_step_end(self, iteration, trials, **info):
        self.told.append(("step_end", iteration, len(trials)))

    def on_trial_start(self, iteration, trials, trial, **info):
        self.told.append(("start", trial.trial_id, trial in trials))

    def on_trial_restore(self, iteration, trials, trial, **info):
        self.told.append(("restore", trial.trial_id))

    def on_trial_save(self, iteration, trials, trial, **info):
        self.told.append(("save", trial.trial_id))

    def on_trial_result(self, iteration, trials, trial, result, **info):
        self.told.append(("result", trial.trial_id, dict(result), trial in trials, iteration))

    def on_trial_complete(self, iteration, trials, trial, **info):
        self.told.append(("complete", trial.trial_id))

    def on_trial_recover(self, iteration, trials, trial, **info):
        self.told.append(("recover", trial.trial_id))

    def on_trial_error(self, iteration, trials, trial, **info):
        self.told.append(("error", trial.trial_id))

    def on_checkpoint(self, iteration, trials, trial, checkpoint, **info):
        self.told.append(("checkpoint", trial.trial_id, Path(checkpoint.path).name))

    def on_experiment_end(self, trials, **info):
        self.told.append(("end", len(trials)))

    def of(self, name):
        return [each for each in self.told if each[0] == name]


@covers("tune.Callback.setup: stop num_samples total_num_samples")
def test_setup_is_told_of_the_search(search):
    told = Told()
    search(
        reports,
        config={"x": tune.grid_search([1, 2])},
        num_samples=2,
        stop={"training_iteration": 9},
        callbacks=[told],
    )
    ((_, stop, samples, total),) = told.of("setup")
    assert stop == {"training_iteration": 9}
    assert (samples, total) == (2, 4)
    assert told.told[0][0] == "setup"


@covers("tune.Callback.on_step_begin: iteration trials", "tune.Callback.on_step_end: iteration trials")
def test_steps_are_numbered(search):
    told = Told()
    search(reports, callbacks=[told])
    begins, ends = told.of("step_begin"), told.of("step_end")
    assert [each[1] for each in begins] == sorted({each[1] for each in begins})
    assert begins
    assert ends
    assert ends[-1][2] == 1


@covers("tune.Callback.on_trial_start: iteration trials trial", "tune.Callback.on_trial_complete: iteration trials trial",
        "tune.Callback.on_trial_result: iteration trials trial result", "tune.Callback.on_experiment_end: trials")  # fmt: skip
def test_a_trials_life_is_told_in_order(search):
    told = Told()
    (trial,) = search(reports, callbacks=[told]).trials
    names = [
        each[0]
        for each in told.told
        if each[0] not in ("setup", "step_begin", "step_end", "save", "checkpoint")
    ]
    assert names[:4] == ["start", "result", "result", "complete"] or names[:5] == [
        "start",
        "result",
        "result",
        "result",
        "complete",
    ]
    assert names[-1] == "end"
    assert told.of("start") == [("start", trial.trial_id, True)]
    _, trial_id, result, in_trials, _ = told.of("result")[1]
    assert (trial_id, result["score"], in_trials) == (trial.trial_id, 1, True)
    assert told.of("end") == [("end", 1)]


@covers("tune.Callback.on_trial_error: iteration trials trial")
def test_an_error_is_told(search):
    def fails(config):
        raise RuntimeError("broken")

    told = Told()
    search(fails, callbacks=[told], raise_on_failed_trial=False)
    assert len(told.of("error")) == 1
    assert told.of("complete") == []


@covers("tune.Callback.on_trial_recover: iteration trials trial")
def test_a_recovered_trial_is_told(search, tmp_path):
    told = Told()
    search(
        Counter, config={"fails": str(tmp_path / "mark")}, max_failures=1, checkpoint_freq=1, callbacks=[told]
    )
    assert len(told.of("recover")) == 1
    assert told.of("error") == []


@covers(
    "tune.Callback.on_trial_save: iteration trials trial",
    "tune.Callback.on_checkpoint: iteration trials trial checkpoint",
)
def test_saves_are_told(search):
    told = Told()
    (trial,) = search(Counter, checkpoint_freq=2, callbacks=[told]).trials
    assert len(told.of("save")) == 2
    assert [each[2] for each in told.of("checkpoint")] == sorted(
        path.name for path in Path(trial.path).glob("checkpoint_*")
    )


@covers("tune.Callback.get_state", "tune.Callback.set_state: state")
def test_the_state_of_a_callback_comes_back_with_a_resume(search):
    class Counts(tune.Callback):
        def __init__(self):
            self.results, self.restored = 0, None

        def on_trial_result(self, iteration, trials, trial, result, **info):
            self.results += 1

        def get_state(self):
            return {"results": self.results}

        def set_state(self, state):
            self.restored = state["results"]

    first, second = Counts(), Counts()
    search(reports, name="mine", callbacks=[first])
    search(reports, name="mine", callbacks=[second], resume=True)
    assert second.restored == first.results


@covers("tune.Callback", "tune.callback.Callback")
def test_a_callback_that_raises_ends_the_run(search):
    class Raises(tune.Callback):
        def on_trial_result(self, iteration, trials, trial, result, **info):
            raise RuntimeError("from the callback")

    with pytest.raises(Exception, match="from the callback"):
        search(reports, callbacks=[Raises()])


@covers("tune.callback.CallbackList: callbacks", "tune.callback.CallbackList.on_trial_start", "tune.callback.CallbackList.on_trial_result",
        "tune.callback.CallbackList.on_experiment_end", "tune.callback.CallbackList.setup", "tune.callback.CallbackList.on_trial_complete",
        "tune.callback.CallbackList.on_trial_error", "tune.callback.CallbackList.on_trial_recover", "tune.callback.CallbackList.on_trial_restore",
        "tune.callback.CallbackList.on_trial_save", "tune.callback.CallbackList.on_checkpoint", "tune.callback.CallbackList.on_step_begin",
        "tune.callback.CallbackList.on_step_end", "tune.callback.CallbackList.IS_CALLBACK_CONTAINER")  # fmt: skip
def test_a_list_of_callbacks_is_one():
    one, two = Told(), Told()
    both = part("tune.callback").CallbackList([one, two])
    both.setup(stop=None)

    class Trial:
        trial_id = "a"

    class Checkpoint:
        path = "/x"

    trial = Trial()
    both.on_step_begin(iteration=1, trials=[trial])
    for hook in ("start", "restore", "save", "complete", "recover", "error"):
        getattr(both, f"on_trial_{hook}")(iteration=1, trials=[trial], trial=trial)
    both.on_trial_result(iteration=1, trials=[trial], trial=trial, result={"score": 1})
    both.on_checkpoint(iteration=1, trials=[trial], trial=trial, checkpoint=Checkpoint())
    both.on_step_end(iteration=1, trials=[trial])
    both.on_experiment_end(trials=[trial])
    expected = [
        "setup",
        "step_begin",
        "start",
        "restore",
        "save",
        "complete",
        "recover",
        "error",
        "result",
        "checkpoint",
        "step_end",
        "end",
    ]
    assert [each[0] for each in one.told] == [each[0] for each in two.told] == expected
    assert both.IS_CALLBACK_CONTAINER


@covers("tune.callback.CallbackList.save_to_dir: checkpoint_dir session_str", "tune.callback.CallbackList.restore_from_dir: checkpoint_dir",
        "tune.callback.CallbackList.can_restore: checkpoint_dir", "tune.callback.CallbackList.CKPT_FILE_TMPL")  # fmt: skip
def test_a_list_of_callbacks_is_saved(tmp_path):
    class Keeps(tune.Callback):
        value = 0

        def get_state(self):
            return {"value": self.value}

        def set_state(self, state):
            self.value = state["value"]

    kept, empty = Keeps(), Keeps()
    kept.value = 4
    saved = part("tune.callback").CallbackList([kept])
    assert not saved.can_restore(str(tmp_path))
    saved.save_to_dir(str(tmp_path), session_str="one")
    restored = part("tune.callback").CallbackList([empty])
    assert restored.can_restore(str(tmp_path))
    restored.restore_from_dir(str(tmp_path))
    assert empty.value == 4


@covers("tune.logger.LoggerCallback.log_trial_start: trial", "tune.logger.LoggerCallback.log_trial_result: iteration trial result",
        "tune.logger.LoggerCallback.log_trial_end: trial failed", "tune.logger.LoggerCallback.log_trial_save: trial")  # fmt: skip
def test_a_logger_callback_of_ones_own(search):
    class Own(tune.logger.LoggerCallback):
        def __init__(self):
            self.told = []

        def log_trial_start(self, trial):
            self.told.append("start")

        def log_trial_result(self, iteration, trial, result):
            self.told.append(("result", result["count"]))

        def log_trial_save(self, trial):
            self.told.append("save")

        def log_trial_end(self, trial, failed=False):
            self.told.append(("end", failed))

    own = Own()
    search(Counter, checkpoint_freq=4, callbacks=[own])
    assert own.told[0] == "start"
    assert own.told[-1] == ("end", False)
    assert [each for each in own.told if each[0] == "result"] == [("result", n) for n in (1, 2, 3, 4)]
    assert "save" in own.told


@covers("tune.logger.LoggerCallback.log_trial_end: failed", "tune.logger.LoggerCallback.log_trial_restore: trial",
        "tune.Callback.on_trial_restore: iteration trials trial")  # fmt: skip
def test_a_logger_callback_is_told_of_failures(search):
    class Own(tune.logger.LoggerCallback):
        told = []

        def log_trial_end(self, trial, failed=False):
            self.told.append(("end", failed))

        def log_trial_restore(self, trial):
            self.told.append(("restore", trial))

    def fails(config):
        raise RuntimeError("broken")

    search(fails, callbacks=[Own()], raise_on_failed_trial=False)
    assert Own.told == [("end", True)]
    Own().on_trial_restore(iteration=1, trials=["the trial"], trial="the trial")
    assert Own.told[-1] == ("restore", "the trial")


@covers("tune.logger.JsonLoggerCallback", "tune.logger.JsonLoggerCallback.update_config: trial config")
def test_a_subclass_of_the_json_logger_is_used(search):
    class Adds(part("tune.logger").JsonLoggerCallback):
        def log_trial_result(self, iteration, trial, result):
            super().log_trial_result(iteration, trial, {**result, "added": 5})

    (trial,) = search(reports, callbacks=[Adds()], config={"x": 2}).trials
    lines = [json.loads(line) for line in Path(trial.path, "result.json").read_text().splitlines()]
    assert [line["added"] for line in lines] == [5, 5]
    assert json.loads(Path(trial.path, "params.json").read_text()) == {"x": 2}


@covers("tune.logger.CSVLoggerCallback")
def test_a_subclass_of_the_csv_logger_is_used(search):
    class Adds(part("tune.logger").CSVLoggerCallback):
        def log_trial_result(self, iteration, trial, result):
            super().log_trial_result(iteration, trial, {**result, "added": 5})

    (trial,) = search(reports, callbacks=[Adds()]).trials
    with Path(trial.path, "progress.csv").open() as file:
        assert [row["added"] for row in csv.DictReader(file)] == ["5", "5"]


@covers(
    "tune.logger.TBXLoggerCallback",
    "tune.logger.TBXLoggerCallback.VALID_HPARAMS",
    "tune.logger.TBXLoggerCallback.VALID_NP_HPARAMS",
)
def test_a_subclass_of_the_tensorboard_logger_is_used(search):
    pytest.importorskip("tensorboardX")

    class Adds(part("tune.logger").TBXLoggerCallback):
        seen = []

        def log_trial_result(self, iteration, trial, result):
            self.seen.append(result["score"])
            super().log_trial_result(iteration, trial, result)

    (trial,) = search(reports, callbacks=[Adds()]).trials
    assert Adds.seen[:2] == [0, 1]
    assert list(Path(trial.path).glob("events.out.tfevents.*"))
    assert int in Adds.VALID_HPARAMS


@covers("tune.logger.JsonLoggerCallback", "tune.logger.CSVLoggerCallback")
def test_loggers_write_by_default(search):
    (trial,) = search(reports).trials
    assert {"result.json", "progress.csv", "params.json"} <= {
        path.name for path in Path(trial.path).iterdir()
    }


@covers("tune.logger.CSVLoggerCallback")
def test_loggers_are_switched_off_by_an_environment_variable(search, monkeypatch):
    monkeypatch.setenv("TUNE_DISABLE_AUTO_CALLBACK_LOGGERS", "1")
    (trial,) = search(reports).trials
    assert not (Path(trial.path) / "progress.csv").exists()


@covers("tune.logger.pretty_print: result exclude")
def test_a_result_is_printed_pretty():
    text = part("tune.logger").pretty_print(
        {"score": 1, "config": {"x": 2}, "deep": {"a": 1}, "hidden": 3}, exclude=["hidden"]
    )
    assert "score: 1" in text
    assert "hidden" not in text
    assert "config" not in text


def table(reporter, search, capfd, **arguments):
    search(reports, config={"lr": 0.5, "width": 8}, progress_reporter=reporter, verbose=2, **arguments)
    return capfd.readouterr().out


@covers("tune.CLIReporter: metric_columns parameter_columns")
def test_a_reporter_shows_the_chosen_columns(search, capfd):
    text = table(
        tune.CLIReporter(metric_columns={"score": "Points"}, parameter_columns=["lr"]), search, capfd
    )
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert any("Points" in row and "lr" in row for row in rows)
    assert not any("width" in row for row in rows)


@covers("tune.progress_reporter.TuneReporterBase.add_metric_column: metric representation",
        "tune.progress_reporter.TuneReporterBase.add_parameter_column: parameter representation")  # fmt: skip
def test_columns_are_added_to_a_reporter(search, capfd):
    reporter = tune.CLIReporter(metric_columns={"training_iteration": "iter"}, parameter_columns={"lr": "lr"})
    reporter.add_metric_column("score", representation="Points")
    reporter.add_parameter_column("width", representation="Wide")
    text = table(reporter, search, capfd)
    assert "Points" in text
    assert "Wide" in text


@covers(
    "tune.CLIReporter: print_intermediate_tables max_report_frequency max_error_rows max_column_length infer_limit total_samples metric mode sort_by_metric"
)
def test_a_reporter_has_its_settings(search, capfd):
    reporter = tune.CLIReporter(
        print_intermediate_tables=False, max_report_frequency=1, max_error_rows=2, max_column_length=10, infer_limit=1,
        total_samples=1, metric="score", mode="max", sort_by_metric=True,
    )  # fmt: skip
    assert "score" in table(reporter, search, capfd)


@covers("tune.CLIReporter: metric mode sort_by_metric max_progress_rows")
def test_a_reporter_sorts_by_its_metric(search, capfd):
    def once(config):
        return {"score": config["x"]}

    reporter = tune.CLIReporter(
        metric="score", mode="max", sort_by_metric=True, metric_columns=["score"], parameter_columns=["x"]
    )
    search(once, config={"x": tune.grid_search([111, 333, 222])}, progress_reporter=reporter, verbose=2)
    last = capfd.readouterr().out[-4000:]
    rows = [
        number
        for line in last.splitlines()
        if "TERMINATED" in line
        for number in ("111", "222", "333")
        if number in line
    ]
    assert rows[-3:] == ["333", "222", "111"]


@covers(
    "tune.JupyterNotebookReporter: overwrite metric_columns parameter_columns max_progress_rows max_error_rows max_column_length max_report_frequency total_samples infer_limit print_intermediate_tables metric mode sort_by_metric"
)
def test_a_notebook_reporter_has_the_same_settings(search, capfd):
    pytest.importorskip("IPython")
    reporter = tune.JupyterNotebookReporter(
        overwrite=False, metric_columns={"score": "Points"}, parameter_columns=["lr"], max_progress_rows=5, max_error_rows=5,
        max_column_length=10, max_report_frequency=1, total_samples=1, infer_limit=1, print_intermediate_tables=True, metric="score",
        mode="max", sort_by_metric=True,
    )  # fmt: skip
    assert isinstance(reporter, tune.ProgressReporter)
    search(reports, config={"lr": 0.5}, progress_reporter=reporter, verbose=2)


@covers(
    "tune.ProgressReporter",
    "tune.ProgressReporter.should_report: trials done",
    "tune.ProgressReporter.report: trials done",
)
def test_a_reporter_decides_when_it_reports(search):
    class Own(tune.ProgressReporter):
        asked, told = [], []

        def should_report(self, trials, done=False):
            self.asked.append(done)
            return done

        def report(self, trials, done, *sys_info):
            self.told.append((done, [trial.status for trial in trials]))

    search(reports, progress_reporter=Own(), verbose=1)
    assert Own.asked[-1] is True
    assert Own.told == [(True, ["TERMINATED"])]


@covers("tune.ProgressReporter.setup: start_time total_samples metric mode")
def test_a_reporter_is_set_up(search):
    class Own(tune.ProgressReporter):
        known = {}

        def setup(self, start_time=None, total_samples=None, metric=None, mode=None, **kwargs):
            self.known.update(start=start_time, total=total_samples, metric=metric, mode=mode)

        def should_report(self, trials, done=False):
            return done

        def report(self, trials, done, *sys_info):
            pass

    search(reports, num_samples=2, metric="score", mode="max", progress_reporter=Own(), verbose=1)
    assert Own.known["total"] == 2
    assert (Own.known["metric"], Own.known["mode"]) == ("score", "max")
    assert Own.known["start"] is not None
