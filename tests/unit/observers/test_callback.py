from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from overtone.core.messages import Moved
from overtone.core.types import Checkpoint, Why
from overtone.errors import CallbackError
from overtone.observers.callbacks.callback import HOOKS, Callback, LoggerCallback
from overtone.observers.callbacks.callback_observer import CallbackObserver
from overtone.observers.trial_view import Experiment, SeenTrial
from overtone.testing.observer_conformance import WithTable
from overtone.testing.scripted_records import Story

RESULTS = TemporaryDirectory()
EXPERIMENT = Experiment("train", RESULTS.name, ["lr"])


class Recorder(Callback):
    """Writes down each call: the hook, the iteration and the trial."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.results: list[dict[str, Any]] = []
        self.checkpoints: list[Any] = []

    def setup(
        self, stop: Any = None, num_samples: Any = None, total_num_samples: Any = None, **info: Any
    ) -> None:
        self.calls.append(("setup", stop, num_samples, total_num_samples))

    def on_step_begin(self, iteration: int, trials: list[SeenTrial], **info: Any) -> None:
        self.calls.append(("step_begin", iteration, len(trials)))

    def on_step_end(self, iteration: int, trials: list[SeenTrial], **info: Any) -> None:
        self.calls.append(("step_end", iteration, len(trials)))

    def on_trial_start(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        self.calls.append(("start", iteration, str(trial), trial.status))

    def on_trial_restore(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        self.calls.append(("restore", iteration, str(trial)))

    def on_trial_save(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        self.calls.append(("save", iteration, str(trial)))

    def on_trial_result(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, result: dict[str, Any], **info: Any
    ) -> None:
        self.calls.append(("result", iteration, str(trial), result["loss"]))
        self.results.append(result)

    def on_trial_complete(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        self.calls.append(("complete", iteration, str(trial), trial.status))

    def on_trial_recover(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any
    ) -> None:
        self.calls.append(("recover", iteration, str(trial), trial.status))

    def on_trial_error(self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, **info: Any) -> None:
        self.calls.append(("error", iteration, str(trial), trial.error))

    def on_checkpoint(
        self, iteration: int, trials: list[SeenTrial], trial: SeenTrial, checkpoint: Any, **info: Any
    ) -> None:
        self.checkpoints.append(checkpoint)

    def on_experiment_end(self, trials: list[SeenTrial], **info: Any) -> None:
        self.calls.append(("end", [trial.status for trial in trials]))


FACTS = {"stop": {"loss": 0}, "num_samples": 2, "time_budget_s": 9.0, "total_num_samples": 6}


def drive(
    story: Story, *callbacks: Any, experiment: Experiment = EXPERIMENT, steps: int = 1, **options: Any
) -> WithTable:
    """Show the whole story, in `steps` equal batches."""
    observer = WithTable(lambda table: CallbackObserver(callbacks, experiment, table, FACTS, **options))
    size = -(-len(story.records) // steps) or 1
    for i in range(0, len(story.records), size):
        for record in story.records[i : i + size]:
            observer.on_record(record)
        observer.flush()
    return observer


def test_hooks_come_in_order_with_the_step_s_number() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, loss=1.0)
    story.end(trial)
    recorder = Recorder()
    observer = drive(story, recorder, steps=len(story.records))
    observer.flush()
    observer.close()
    observer.close()
    name = "train_358bb_00000"
    assert [call for call in recorder.calls if not call[0].startswith("step")] == [
        ("setup", {"loss": 0}, 2, 6),
        ("start", 2, name, "RUNNING"),
        ("result", 3, name, 1.0),
        ("complete", 4, name, "TERMINATED"),
        ("end", ["TERMINATED"]),
    ]
    steps = [call[:2] for call in recorder.calls if call[0].startswith("step")]
    assert steps == [one for i in range(5) for one in (("step_begin", i), ("step_end", i + 1))]


def test_a_result_carries_who_the_trial_is() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial, "10.0.0.1", pid=77)
    story.report(trial, loss=1.0)
    story.report_stopped(trial, Why("asha"), loss=0.5)
    recorder = Recorder()
    drive(story, recorder)
    first, last = recorder.results
    known = {"loss": 1.0, "training_iteration": 1, "trial_id": trial, "pid": 77, "hostname": "host"}
    assert {key: first[key] for key in known} == known
    assert first["node_ip"] == "10.0.0.1"
    assert first["config"] == {"lr": 0.1}
    assert (first["done"], last["done"]) == (False, True)


def test_a_failure_that_is_tried_again_is_a_recovery() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.recover(trial, "ValueError: first")
    story.start(trial, restored=Checkpoint(trial, 3, "file:///c"))
    story.end(trial, "raised", error="ValueError: second")
    recorder = Recorder()
    drive(story, recorder)
    assert [call[0] for call in recorder.calls if call[0] not in ("setup", "step_begin", "step_end")] == [
        "start",
        "recover",
        "start",
        "restore",
        "error",
    ]
    assert recorder.calls[-2][3] == "ValueError: second"


def test_a_trial_that_is_restarted_while_another_fails_does_not_recover() -> None:
    story = Story()
    trial, waiting = story.add({"lr": 0.1}), story.add({"lr": 0.2})
    story.start(trial)
    failed = story.recover(trial, "ValueError: no")
    restarted = Moved(waiting, "PENDING", 0, Why("pbt"), config={"lr": 0.3})
    story.records[-1] = replace(failed, choices=(*failed.choices, restarted))
    recorder = Recorder()
    drive(story, recorder)
    assert [call[2] for call in recorder.calls if call[0] == "recover"] == [f"train_{trial}"]


def test_checkpoints_are_opened_for_the_user() -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, checkpoint=Checkpoint(trial, 1, "file:///a"), loss=1.0)
    recorder = Recorder()
    experiment = Experiment(
        "train", RESULTS.name, open_checkpoint=lambda reference: f"opened {reference.uri}"
    )
    drive(story, recorder, experiment=experiment)
    assert recorder.checkpoints == ["opened file:///a"]
    assert ("save", 0, "train_358bb_00000") in recorder.calls


def test_a_trial_has_the_names_that_users_know() -> None:
    trials: list[SeenTrial] = []

    class Keep(Callback):
        def on_trial_start(self, iteration: int, trials_: Any = None, trial: Any = None, **info: Any) -> None:
            trials.append(trial)

    story = Story()
    story.start(story.add({"lr": 0.1, "gpu": True}, {"cpu": 2}), pid=5)
    drive(story, Keep())
    (trial,) = trials
    assert (trial.trial_id, trial.config, trial.evaluated_params) == (
        "358bb_00000",
        {"lr": 0.1, "gpu": True},
        {"lr": 0.1},
    )
    assert trial.local_dir == trial.local_experiment_path == RESULTS.name
    assert (trial.local_path, trial.logdir, trial.experiment_tag) == (f"{RESULTS.name}/358bb_00000",) * 2 + (
        "0",
    )
    assert (trial.status, trial.is_finished(), trial.last_result, trial.checkpoint) == (
        "RUNNING",
        False,
        {},
        None,
    )
    assert (trial.location, trial.trainable_name, trial.error_file) == ("127.0.0.1:5", "train", None)
    assert trial.resources.total() == {"cpu": 2}


class Broken(Callback):
    """Raises at each result and at the end."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def on_trial_result(self, *args: Any, **kwargs: Any) -> None:
        self.calls.append("result")
        raise RuntimeError("broken callback")

    def on_step_end(self, *args: Any, **kwargs: Any) -> None:
        self.calls.append("step_end")

    def on_experiment_end(self, *args: Any, **kwargs: Any) -> None:
        self.calls.append("end")
        raise KeyError("again")


@pytest.mark.parametrize("as_is", [False, True])
def test_a_callback_that_raises_is_told_of_nothing_but_the_end(as_is: bool) -> None:
    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    broken, recorder = Broken(), Recorder()
    observer = drive(story, broken, recorder, raises_as_is=as_is)
    story.report(trial, loss=0.5)
    with pytest.raises(RuntimeError if as_is else CallbackError, match="broken callback") as caught:
        observer.on_record(story.records[-1])
    observer.flush()
    assert broken.calls == ["step_end", "result"]
    story.report(trial, loss=0.25)
    observer.on_record(story.records[-1])
    assert broken.calls == ["step_end", "result"]
    assert len(recorder.results) == 2  # The others are told all.
    if not as_is:
        assert str(caught.value) == "Broken.on_trial_result raised RuntimeError: broken callback"
        assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(KeyError if as_is else CallbackError, match="again"):
        observer.close()
    observer.close()
    assert broken.calls == ["step_end", "result", "end"]
    assert recorder.calls[-1][0] == "end"


class Empty(Callback):
    setup_with: Any = None


def test_setup_gets_the_facts_that_it_takes() -> None:
    class All(Empty):
        def setup(self, **info: Any) -> None:  # type: ignore[override]
            self.setup_with = info

    class Some(Empty):
        def setup(self, stop: Any, total_num_samples: Any) -> None:  # type: ignore[override]
            self.setup_with = (stop, total_num_samples)

    class Old(Empty):
        def setup(self) -> None:  # type: ignore[override]
            self.setup_with = "called"

    given = [All(), Some(), Old()]
    drive(Story(), *given)
    assert [one.setup_with for one in given] == [FACTS, ({"loss": 0}, 6), "called"]


def test_a_logger_gets_its_own_hooks() -> None:
    calls: list[tuple[Any, ...]] = []

    class Logger(LoggerCallback):
        def log_trial_start(self, trial: SeenTrial) -> None:
            calls.append(("start", trial.trial_id))

        def log_trial_result(self, iteration: int, trial: SeenTrial, result: dict[str, Any]) -> None:
            calls.append(("result", iteration, result["loss"]))

        def log_trial_save(self, trial: SeenTrial) -> None:
            calls.append(("save", trial.checkpoint.uri))

        def log_trial_end(self, trial: SeenTrial, failed: bool = False) -> None:
            calls.append(("end", trial.trial_id, failed))

    story = Story()
    good, bad = story.add({"lr": 0.1}), story.add({"lr": 0.2})
    story.start(good)
    story.report(good, checkpoint=Checkpoint(good, 1, "file:///a"), loss=1.0)
    story.end(good)
    story.start(bad)
    story.end(bad, "raised", error="ValueError: x")
    drive(story, Logger())
    assert calls == [
        ("start", good),
        ("result", 0, 1.0),
        ("save", "file:///a"),
        ("end", good, False),
        ("start", bad),
        ("end", bad, True),
    ]


def test_a_trial_s_folder_is_there_when_it_starts() -> None:
    class Logger(LoggerCallback):
        def log_trial_start(self, trial: SeenTrial) -> None:
            Path(trial.logdir, "log.txt").write_text("started")

    with TemporaryDirectory() as folder:
        story = Story()
        trial = story.add({"lr": 0.1})
        story.start(trial)
        drive(story, Logger(), experiment=Experiment("train", folder))
        assert Path(folder, trial, "log.txt").read_text() == "started"


def test_an_object_that_merely_has_the_hooks_will_do() -> None:
    class Duck:
        seen: list[float] = []

        def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: Any, **info: Any) -> None:
            self.seen.append(result["loss"])

    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, loss=1.0)
    drive(story, Duck()).close()
    assert Duck.seen == [1.0]


def test_a_callback_with_no_hooks_costs_and_changes_nothing() -> None:
    story = Story()
    story.add({"lr": 0.1})
    observer = drive(story, Callback())
    assert all(not observer.observer._hooks[hook] for hook in HOOKS)
    assert not observer.observer.follows_results
    assert not observer.observer.has_steps


def test_a_logger_costs_nothing_for_what_it_does_not_log() -> None:
    class Starts(LoggerCallback):
        def log_trial_start(self, trial: SeenTrial) -> None:
            pass

    class Ends(LoggerCallback):
        def log_trial_end(self, trial: SeenTrial, failed: bool = False) -> None:
            pass

    class Own(LoggerCallback):
        def on_trial_result(self, *args: Any, **info: Any) -> None:
            pass

    def hooks(callback: Any) -> list[str]:
        observer = drive(Story(), callback).observer
        return [hook for hook in HOOKS if observer._hooks[hook]]

    assert hooks(LoggerCallback()) == []
    assert hooks(Starts()) == ["on_trial_start"]
    assert hooks(Ends()) == ["on_trial_complete", "on_trial_error"]
    assert hooks(Own()) == ["on_trial_result"]


def test_the_last_result_of_a_trial_is_the_one_before_the_reported_one() -> None:
    seen: list[tuple[Any, ...]] = []

    class Differences(Callback):
        def on_trial_result(self, trial: Any = None, result: Any = None, **info: Any) -> None:  # type: ignore[override]
            seen.append((result["loss"], trial.last_result.get("loss")))

        def on_trial_complete(self, trial: Any = None, **info: Any) -> None:  # type: ignore[override]
            seen.append((trial.trial_id, trial.last_result["loss"]))

    story = Story()
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, loss=1.0)
    story.report(trial, loss=0.5)
    story.recover(trial, "ValueError: first")
    story.start(trial)
    story.report(trial, loss=0.25)
    story.end(trial)
    drive(story, Differences(), steps=3)
    assert seen == [(1.0, None), (0.5, 1.0), (0.25, 0.5), (trial, 0.25)]
