from __future__ import annotations

import io
from typing import Any

import pytest

from overtone.core.table import TrialTable
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.progress import Progress
from overtone.observers.display.reporter_display import Reporting
from overtone.observers.display.reporters import CLIReporter, JupyterNotebookReporter, ProgressReporter
from overtone.observers.display.safe_stream import Writer
from overtone.observers.trial_view import SeenTrial
from overtone.testing.scripted_records import Story


class Recorder(ProgressReporter):
    """Reports whenever a trial has ended, as in many a user's script."""

    def __init__(self) -> None:
        self.reports: list[tuple[list[str], bool, tuple[str, ...]]] = []
        self.facts: list[dict[str, Any]] = []
        self.n_ended = 0

    def setup(
        self,
        start_time: Any = None,
        total_samples: Any = None,
        metric: Any = None,
        mode: Any = None,
        **more: Any,
    ) -> None:
        self.facts.append({"total_samples": total_samples, "metric": metric, "mode": mode})

    def should_report(self, trials: list[SeenTrial], done: bool = False) -> bool:
        before, self.n_ended = (
            self.n_ended,
            sum(1 for trial in trials if trial.status == SeenTrial.TERMINATED),
        )
        return done or self.n_ended > before

    def report(self, trials: list[SeenTrial], done: bool, *sys_info: str) -> None:
        self.reports.append(([trial.status for trial in trials], done, sys_info))


class Run:
    def __init__(self, reporter: ProgressReporter, **more: Any) -> None:
        self.now = 0.0
        known: dict[str, Any] = {
            "trainable": "train",
            "metric": "acc",
            "mode": "max",
            "total": lambda: 4,
            "describe": lambda: "Using FIFO scheduling algorithm.",
            **more,
        }
        facts = ConsoleFacts("exp", "/results/exp", "local engine", lambda: 0.0, **known)
        self.progress = Progress(facts, TrialTable())
        self.out = io.StringIO()
        self.reporting = Reporting(self.progress, reporter, Writer(self.out), lambda: self.now)
        self.reporting.open()
        self.story = Story()
        self.story.capacity(cpu=2)
        self._told = 0

    def show(self) -> None:
        self.now += 1
        for record in self.story.records[self._told :]:
            self.progress.table.apply(record)
            self.progress.apply(record)
        self._told = len(self.story.records)
        self.reporting.refresh()
        self.progress.clear_news()

    def trial(self, acc: float) -> str:
        trial = self.story.add({"lr": 0.1})
        self.story.start(trial)
        self.story.report(trial, acc=acc)
        return trial


def test_a_reporter_says_when_and_sees_trials_and_the_system() -> None:
    reporter = Recorder()
    run = Run(reporter)
    first = run.trial(0.5)
    run.trial(0.6)
    run.show()
    assert reporter.reports == []
    run.story.end(first)
    run.show()
    run.show()
    run.reporting.close()
    system = ("Using FIFO scheduling algorithm.", "Resources requested: 1.0/2 CPUs, 0.0/0 GPUs")
    assert reporter.reports == [
        (["TERMINATED", "RUNNING"], False, system),
        (["TERMINATED", "RUNNING"], True, system),
    ]


def test_what_trials_wait_for_is_in_the_block() -> None:
    reporter = Recorder()
    run = Run(reporter, waits=lambda: "waiting for gpu 1: no node has that now")
    run.reporting.close()
    assert reporter.reports[-1][2][-1] == "waiting for gpu 1: no node has that now"


def test_a_reporter_is_told_the_goal_when_it_is_found() -> None:
    reporter = Recorder()
    goal: list[tuple[str | None, str | None]] = [(None, None)]
    run = Run(reporter, metric=None, mode=None, goal=lambda: goal[0])
    goal[0] = ("acc", "max")
    run.story.end(run.trial(0.5))
    run.show()
    assert reporter.facts == [
        {"total_samples": 4, "metric": None, "mode": None},
        {"total_samples": 4, "metric": "acc", "mode": "max"},
    ]


def test_cli_reporter_prints_the_block(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(CLIReporter(max_report_frequency=0))
    run.story.end(run.trial(0.5))
    run.trial(0.75)
    run.show()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "== Status =="
    assert lines[1].startswith("Memory usage on this node: ")
    assert lines[2:7] == [
        "Using FIFO scheduling algorithm.",
        "Resources requested: 1.0/2 CPUs, 0.0/0 GPUs",
        "Current best trial: 358bb_00001 with acc=0.75 and parameters={'lr': 0.1}",
        "Result logdir: /results/exp",
        "Number of trials: 2/4 (1 RUNNING, 1 TERMINATED)",
    ]
    assert [line.split("|")[1].strip() for line in lines[8:12] if line[1] == " "] == [
        "Trial name",
        "train_358bb_00001",
        "train_358bb_00000",
    ]


def test_cli_reporter_keeps_to_its_frequency(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(CLIReporter(max_report_frequency=1000))
    run.trial(0.5)
    run.show()
    run.show()
    assert capsys.readouterr().out.count("== Status ==") == 1
    run.reporting.close()
    assert capsys.readouterr().out.count("== Status ==") == 1


def test_cli_reporter_takes_the_usual_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = CLIReporter(
        metric_columns={"acc": "accuracy"},
        parameter_columns=["lr"],
        total_samples=9,
        max_progress_rows=1,
        max_error_rows=1,
        max_column_length=20,
        max_report_frequency=0,
        infer_limit=1,
        print_intermediate_tables=False,
        metric="acc",
        mode="min",
        sort_by_metric=True,
    )
    reporter.add_metric_column("training_iteration", "n")
    reporter.add_parameter_column("act")
    run = Run(reporter)
    for acc in (0.5, 0.25, 0.75):
        run.trial(acc)
    run.show()
    out = capsys.readouterr().out
    assert "Trial name" not in out
    assert "Current best trial: 358bb_00001 with acc=0.25" in out
    assert "Number of trials: 3/9 (3 RUNNING)" in out
    run.reporting.close()
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [cell.strip() for cell in table[0].strip("|").split("|")] == [
        "Trial name",
        "status",
        "loc",
        "lr",
        "act",
        "accuracy",
        "n",
    ]
    assert [line.split("|")[1].strip() for line in table[1:]] == ["train_358bb_00001"]


def test_wrong_arguments_are_refused_with_what_would_be_right() -> None:
    with pytest.raises(ValueError, match=r"metric_columns='acc': give a list, \['acc'\]"):
        CLIReporter(metric_columns="acc")
    with pytest.raises(ValueError, match="mode='up'"):
        CLIReporter(mode="up")


def test_notebook_reporter_prints_where_there_is_no_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(JupyterNotebookReporter(overwrite=True, max_report_frequency=0))
    run.trial(0.5)
    run.show()
    assert capsys.readouterr().out.startswith("== Status ==\n")


def test_a_slow_reporter_is_asked_less_often() -> None:
    reporter = Recorder()
    run = Run(reporter)

    def slow(trials: list[SeenTrial], done: bool = False) -> bool:
        run.now += 1.0
        reporter.n_ended += 1
        return False

    reporter.should_report = slow
    for _ in range(25):
        run.show()
    assert reporter.n_ended == 1
