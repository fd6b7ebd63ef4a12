from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from overtone.core.messages import Reported
from overtone.core.table import TrialTable
from overtone.observers.display.console import Console, ConsoleFacts, console_for
from overtone.observers.display.reporters import CLIReporter
from overtone.observers.table_keeper import TableKeeper
from overtone.run.resume.state_codec import frozen, thaw
from overtone.testing.observer_conformance import WithTable
from overtone.testing.scripted_records import Story


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def shown(verbose: int | None, stream: io.StringIO, reporter: Any = None, may_redraw: bool = True) -> str:
    """What a console shows of a short run that takes a minute a flush."""
    now = iter(range(0, 60 * 1000, 60))
    facts = ConsoleFacts(
        "exp",
        "/results/exp",
        "local engine: 2 CPUs",
        lambda: 60.0,
        metric="acc",
        mode="max",
        may_redraw=may_redraw,
    )
    console = WithTable(
        lambda table: console_for(facts, table, verbose, reporter, stream, lambda: float(next(now)))
    )
    story = Story()
    story.capacity(cpu=2)
    trial = story.add({"lr": 0.1})
    story.start(trial)
    story.report(trial, acc=0.5)
    for record in story.records:
        console.on_record(record)
    console.observer.on_output(trial, "stdout", "printed\n")
    console.flush()
    console.on_record(story.end(trial))
    console.flush()
    console.close()
    console.close()
    return stream.getvalue()


def test_silent_but_for_what_trials_print() -> None:
    assert shown(0, io.StringIO()) == "printed\n"
    assert shown(0, io.StringIO(), CLIReporter()) == "printed\n"


def test_lines_where_the_stream_is_no_terminal() -> None:
    text = shown(None, io.StringIO())
    assert text.startswith("local engine: 2 CPUs\n")
    assert "trial 1 358bb_00000 finished: acc=0.5" in text
    assert text.count("results: /results/exp") == 1
    assert "\x1b" not in text


def test_verbosity_chooses_which_lines() -> None:
    assert ["finished:" in shown(verbose, io.StringIO()) for verbose in (1, 2, 3)] == [False, True, True]
    assert ["iteration 1: acc=0.5" in shown(verbose, io.StringIO()) for verbose in (1, 2, 3)] == [
        False,
        False,
        True,
    ]


def test_a_live_table_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    stdout = sys.stdout
    text = shown(None, Terminal())
    assert "\x1b[?25l" in text
    assert "best by last value: acc=0.5 by 358bb_00000" in text
    assert sys.stdout is stdout


@pytest.mark.parametrize("term", ["dumb", "unknown", ""])
def test_lines_in_a_terminal_that_cannot_redraw(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    monkeypatch.setenv("TERM", term)
    assert "\x1b" not in shown(None, Terminal())


def test_lines_where_the_terminal_is_someone_else_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in shown(None, Terminal(), may_redraw=False)


def test_a_reporter_takes_over(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(1, io.StringIO(), CLIReporter())
    assert text == "local engine: 2 CPUs\nexp, results in /results/exp\nprinted\n"
    assert capsys.readouterr().out.rstrip().endswith("---+")
    shown(0, io.StringIO(), CLIReporter())
    assert capsys.readouterr().out == ""


def test_nothing_is_shown_of_a_run_that_never_began() -> None:
    stream = io.StringIO()
    console = Console(ConsoleFacts("exp", "/results", "engine", lambda: 0.0), TrialTable(), stream=stream)
    console.flush()
    console.close()
    assert stream.getvalue() == ""


@pytest.mark.parametrize("in_parts", [False, True])
def test_what_happened_before_is_known_and_not_told_again(in_parts: bool) -> None:
    stream = io.StringIO()
    facts = ConsoleFacts("exp", "/results", "engine", lambda: 0.0, metric="acc", mode="max")
    keeper = TableKeeper(TrialTable())
    console = Console(facts, keeper.table, stream=stream)
    story = Story()
    story.capacity(cpu=2)
    trial = story.add({"lr": 0.1})
    story.start(trial)
    for acc in (0.5, 0.7, 0.6):
        story.report(trial, acc=acc)
    for record in story.records:
        event = record.event
        for one in (keeper, console):
            if in_parts and isinstance(event, Reported):
                one.on_past_report(record.n, event.time, trial, 0, event.t, event.metrics)
            else:
                one.on_past(record)
    console.flush()
    assert "iteration" not in stream.getvalue()
    end = story.end(trial)
    keeper.on_record(end)
    console.on_record(end)
    console.close()
    assert "3 results" in stream.getvalue()
    assert "acc=0.7" in stream.getvalue()


def test_wrong_arguments_are_refused() -> None:
    facts = ConsoleFacts("exp", "/results", "engine", lambda: 0.0)
    with pytest.raises(ValueError, match="verbose='loud': choose 0"):
        console_for(facts, TrialTable(), "loud")
    with pytest.raises(ValueError, match="verbose=-1"):
        console_for(facts, TrialTable(), -1)
    with pytest.raises(ValueError, match="should_report"):
        Console(facts, TrialTable(), progress_reporter=object())
    with pytest.raises(ValueError, match="such as CLIReporter"):
        Console(facts, TrialTable(), progress_reporter=CLIReporter)
    assert Console(facts, TrialTable(), 7) is not None


def test_a_run_that_is_recalled_elsewhere_is_told_of_there() -> None:
    old = Console(
        ConsoleFacts("exp", "/results/exp", "ray", lambda: 0.0), TrialTable(), 1, stream=io.StringIO()
    )
    new = Console(
        ConsoleFacts("moved", "/elsewhere/moved", "local", lambda: 0.0), TrialTable(), 1, stream=io.StringIO()
    )
    old.memory().n_results = 7
    thaw(frozen(old.memory()), new.memory())
    new.on_recalled()
    assert new.memory().n_results == 7
    assert (new.facts.name, new.memory().facts.folder) == ("moved", "/elsewhere/moved")
