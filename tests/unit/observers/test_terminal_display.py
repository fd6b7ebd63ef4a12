from __future__ import annotations

import io
import re
import signal
import sys
from typing import Any

import pytest
from rich.console import Console as Screen

from overtone.core.messages import Ended, Moved
from overtone.core.table import TrialTable
from overtone.core.types import Why
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.live_layout import Frame
from overtone.observers.display.plain_text import width
from overtone.observers.display.progress import Progress
from overtone.observers.display.safe_stream import Writer
from overtone.observers.display.sentences import standing
from overtone.observers.display.terminal_display import COST, FIRST_S, REFRESH_S, LiveTable
from overtone.testing.scripted_records import Story

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """A terminal of which only what was written is known."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Run:
    def __init__(self, columns: int = 80, rows: int = 24, tells_all: bool = False, **more: Any) -> None:
        self.now = 0.0
        known: dict[str, Any] = {
            "metric": "acc",
            "mode": "max",
            "total": lambda: 60,
            "describe": lambda: "Using ASHA: num_stopped=3",
            "parameters": ["lr", "act"],
            **more,
        }
        self.facts = ConsoleFacts("digits", "/results/digits", "local engine", lambda: self.now, **known)
        self.progress = Progress(self.facts, TrialTable())
        self.terminal = Terminal()
        self.screen = Screen(
            file=self.terminal,
            force_terminal=True,
            width=columns,
            height=rows,
            color_system="standard",
            highlight=False,
            markup=False,
            legacy_windows=False,
            _environ={},
        )
        self.live = LiveTable(self.progress, Writer(self.terminal), lambda: self.now, tells_all, self.screen)
        self.live.open()
        self.story = Story()
        self.story.capacity(cpu=2)
        self._told = 0

    def show(self, seconds: float = 1.0) -> str:
        """Take the news in and let time pass; what was written, escapes left out."""
        self.now += seconds
        before = len(self.terminal.getvalue())
        for record in self.story.records[self._told :]:
            self.progress.table.apply(record)
            self.progress.apply(record)
        self._told = len(self.story.records)
        self.live.refresh()
        self.progress.clear_news()
        return ESCAPES.sub("", self.terminal.getvalue()[before:])

    def close(self) -> str:
        before = len(self.terminal.getvalue())
        self.live.close()
        return ESCAPES.sub("", self.terminal.getvalue()[before:])

    def trial(self, acc: object, act: str = "relu") -> str:
        trial = self.story.add({"lr": 0.01, "act": act, "epochs": 5})
        self.story.start(trial)
        self.story.time += 1
        self.story.report(trial, acc=acc)
        return trial


@pytest.fixture
def run() -> Run:
    return Run()


@pytest.fixture(autouse=True)
def _restored_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test fails before it closes, standard output must not stay redirected."""
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)


def lines_of(run: Run, columns: int = 80, rows: int = 24) -> list[str]:
    """One frame as text."""
    run.show(0.0)
    return ["".join(text for text, _ in line) for line in Frame(run.progress).draw(columns, rows, 12.5)]


def test_frame_shows_the_run_the_best_and_running_trials_first(run: Run) -> None:
    run.story.end(run.trial(0.7))
    run.story.end(run.trial(0.9, "tanh"), "halted", Why("asha", rung=1))
    run.story.end(run.trial(0.1), "raised", error="ValueError: x")
    run.trial(0.5)
    run.story.add({"lr": 1, "act": "x"})
    run.now = 12
    assert lines_of(run, 100) == [
        "digits · 12 s · 1/2 CPUs · 4 results, 12.5/s",
        "━" + "─" * 29 + "  3/60 finished · 1 running · 1 pending · 1 failed",
        "Using ASHA: num_stopped=3",
        "best acc=0.9  358bb_00001 at iteration 1 (last value)",
        "  lr=0.01, act=tanh",
        "",
        "trial        status    iter   time  acc    lr   act",
        "358bb_00003  running      1  1.0 s  0.5  0.01  relu",
        "358bb_00001  stopped      1  1.0 s  0.9  0.01  tanh",
        "358bb_00000  finished     1  1.0 s  0.7  0.01  relu",
        "... 1 more trial (1 failed): overtone show /results/digits lists all",
    ]
    run.close()


def test_a_paused_trial_has_its_place_by_its_value(run: Run) -> None:
    run.story.end(run.trial(0.7))
    paused = run.trial(0.8)
    run.story._tell(Ended(0.0, paused, 0, "halted"), Moved(paused, "PAUSED", 1))
    run.story.end(run.trial(0.6))
    table = lines_of(run, 100)[-3:]
    assert [line.split()[1] for line in table] == ["paused", "finished", "finished"]
    run.close()


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (160, 50), (40, 10), (20, 5), (10, 2), (1, 1)])
def test_frame_fits_the_screen(run: Run, columns: int, rows: int) -> None:
    for i in range(40):
        trial = run.trial(i / 40, "激活函数" * 5 if i % 2 else "\x1b[2J\n")
        if i < 35:
            run.story.end(trial)
    lines = lines_of(run, columns, rows)
    assert len(lines) <= max(rows - 1, 1)
    assert all(width(line) < max(columns, 21) for line in lines)
    assert all(line.isprintable() for line in lines)
    run.close()


def test_a_narrow_terminal_shows_the_goal_rather_than_the_time(run: Run) -> None:
    run.trial(0.5)
    headers = {columns: lines_of(run, columns)[6].split() for columns in (30, 34, 44)}
    assert headers == {
        30: ["trial", "status", "iter"],
        34: ["trial", "status", "iter", "acc"],
        44: ["trial", "status", "iter", "time", "acc"],
    }
    run.close()


def test_the_remaining_time_is_whole_on_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        run.trial(0.5)
    run.story.end(run.trial(0.7))
    monkeypatch.setattr(run.progress, "seconds_left", lambda: 4_000.0)
    assert lines_of(run, 40)[1:3] == ["1/60 finished · 3 running", "about 1 h 06 min left"]
    assert lines_of(run, 100)[1].endswith("1/60 finished · 3 running · about 1 h 06 min left")
    run.close()


def test_trials_that_find_no_room_are_counted(run: Run) -> None:
    for _ in range(20):
        run.trial(0.5)
    run.story.end(run.trial(0.7))
    run.story.add({"lr": 1, "act": "x"})  # not begun: the line above the table counts it
    assert lines_of(run, 100, 12)[-1] == (
        "... 18 more trials (17 running, 1 finished): overtone show /results/digits lists all"
    )
    assert lines_of(run, 60, 12)[-1] == "... 18 more trials: overtone show /results/digits"
    assert lines_of(run, 45, 12)[-1] == "... 18 more trials (17 running, 1 finished)"
    run.close()


def test_the_last_table_says_how_many_trials_it_leaves_out_and_how_to_see_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    run.facts.folder = "/home/ada/overtone_results/digits"
    for i in range(12):
        run.story.end(run.trial(i / 100))
    assert "more trial" not in run.show()
    _, _, last = run.close().rpartition("trial        status")
    assert last.count("finished     1 ") == 10
    assert "... 2 more trials (2 finished): overtone show digits lists all\n" in last


def on_hosts(run: Run) -> None:
    """Let trial i be on the host 10.0.0.i."""
    for row in run.progress.table.rows.values():
        row.node, row.pid = f"10.0.0.{row.index}", 4711


def test_on_a_cluster_the_table_says_where_each_trial_runs_or_ran(run: Run) -> None:
    run.story.end(run.trial(0.7))
    run.trial(0.5)
    run.show(0.0)
    on_hosts(run)
    assert lines_of(run, 100)[-3:] == [
        "trial        status    location       iter   time  acc    lr   act",
        "358bb_00001  running   10.0.0.1:4711     1  1.0 s  0.5  0.01  relu",
        "358bb_00000  finished  10.0.0.0          1  1.0 s  0.7  0.01  relu",
    ]
    run.close()


def test_a_long_address_is_shown_as_a_whole(run: Run) -> None:
    run.trial(0.5)
    run.show(0.0)
    (row,) = run.progress.table.rows.values()
    row.node, row.pid = "fd00:1234:5678:9abc:def0:1234:5678:9abc", 4711
    assert "[fd00:1234:5678:9abc:def0:1234:5678:9abc]:4711" in lines_of(run, 120)[-1]
    run.close()


@pytest.mark.parametrize(
    ("room", "header"),
    [
        (80, "trial        status   location       iter   time  acc    lr   act"),
        (60, "trial        status   location       iter   time  acc    lr"),
        (50, "trial        status   location       iter  acc"),
        (43, "trial        status   iter  acc    lr   act"),
        (37, "trial        status   iter  acc    lr"),
    ],
)
def test_the_goal_comes_before_the_location_on_a_narrow_screen(run: Run, room: int, header: str) -> None:
    run.trial(0.5)
    run.show(0.0)
    on_hosts(run)
    assert lines_of(run, room + 1)[-2].rstrip() == header
    run.close()


def test_columns_do_not_shrink_again(run: Run) -> None:
    trial = run.trial(0.123456, "a-long-activation")
    run.show()
    frame = Frame(run.progress)
    wide = "".join(text for text, _ in frame.draw(80, 24, None)[6])
    run.story.end(trial, "raised", error="x")
    run.trial(0.5, "x")
    run.show()
    assert width("".join(text for text, _ in frame.draw(80, 24, None)[6])) == width(wide)
    run.close()


def test_nothing_is_drawn_at_once_nor_too_often(run: Run) -> None:
    run.trial(0.5)
    assert run.show(FIRST_S / 2) == ""
    assert "best acc=0.5" in run.show(FIRST_S)
    assert run.show(REFRESH_S / 2) == ""
    assert "best acc=0.5" in run.show(REFRESH_S)
    run.close()


def test_the_slower_drawing_is_the_rarer_it_is() -> None:
    run = Run()
    cost = 0.1

    def slow() -> str:
        run.now += cost
        return "Using a scheduler that takes its time"

    run.facts.describe = slow
    run.trial(0.5)
    assert "takes its time" in run.show()
    assert run.show(cost * COST * 0.9) == ""
    assert "takes its time" in run.show(cost * COST * 0.2)
    run.close()


def test_what_trials_print_goes_above_the_table_with_the_next_frame(run: Run) -> None:
    run.trial(0.5)
    run.show()
    run.live.show_output("358bb_00000", "stdout", "(train_358bb_00000 pid=7) epoch 1\nepo")
    assert run.show(0.0) == ""
    shown = run.show()
    assert shown.index("(train_358bb_00000 pid=7) epoch 1") < shown.index("best acc=0.5")
    assert "epo\n" not in shown
    assert "epo\n" in run.close()


def test_a_flood_of_output_does_not_wait_for_the_next_frame(run: Run) -> None:
    run.trial(0.5)
    run.show()
    run.live.show_output("358bb_00000", "stdout", "x" * 79 + "\n" * 1 + ("y" * 79 + "\n") * 2000)
    assert run.show(0.0).count("y" * 79) == 2000
    run.close()


def test_prints_of_the_driver_go_above_the_table_too(run: Run) -> None:
    run.trial(0.5)
    run.show()
    before = len(run.terminal.getvalue())
    print("hello from the driver")
    assert "hello from the driver" in run.terminal.getvalue()[before:]
    run.close()


def test_failures_are_told_above_and_not_too_many(run: Run) -> None:
    for _ in range(8):
        run.story.end(run.trial(0.5), "raised", error="ValueError: no")
    shown = run.show()
    assert shown.count("failed after 1 iteration: ValueError: no") == 5
    assert "... 3 more trials failed" in shown
    run.close()


def test_all_endings_are_told_where_that_was_asked_for() -> None:
    run = Run(tells_all=True)
    run.story.end(run.trial(0.5))
    assert "trial 1/60 358bb_00000 finished: acc=0.5" in run.show()
    run.close()


def test_the_summary_stays_and_the_terminal_is_given_back(run: Run) -> None:
    stdout = sys.stdout
    run.story.end(run.trial(0.5))
    run.show()
    assert sys.stdout is not stdout
    lines = [line.rstrip() for line in run.close().splitlines() if line.strip()]
    assert lines[-7:] == [
        "trial        status    iter   time  acc    lr   act",
        "358bb_00000  finished     1  1.0 s  0.5  0.01  relu",
        "1 trial, 1 result in 1.0 s: 1 TERMINATED",
        "best by last value: acc=0.5 by 358bb_00000 at iteration 1",
        "  lr=0.01, act=relu",
        "results: /results/digits",
        "plots and tables in one page: overtone report /results/digits",
    ]
    assert sys.stdout is stdout
    assert run.terminal.getvalue().rindex("\x1b[?25h") > run.terminal.getvalue().rindex("\x1b[?25l")


def test_a_run_that_is_over_at_once_leaves_only_the_summary(run: Run) -> None:
    run.story.end(run.trial(0.5))
    run.show(0.0)
    run.close()
    assert "\x1b[?25l" not in run.terminal.getvalue()
    assert "best by last value: acc=0.5" in run.terminal.getvalue()


def test_a_frame_that_cannot_be_drawn_gives_the_terminal_back() -> None:
    stdout = sys.stdout
    run = Run()
    run.trial(0.5)
    run.show()

    def broken() -> str:
        raise RuntimeError("describe is broken")

    run.facts.describe = broken
    with pytest.raises(RuntimeError, match="describe is broken"):
        run.show()
    assert sys.stdout is stdout


def test_a_narrower_terminal_is_cleared_of_the_lines_that_it_wrapped(run: Run) -> None:
    run.trial(0.5)
    run.show()
    run.screen.width = 30
    before = len(run.terminal.getvalue())
    run.show()
    plain, wrapped = "\r\x1b[2K", "\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A"
    assert run.terminal.getvalue()[before:].startswith(wrapped)
    assert run.terminal.getvalue()[before:].startswith(plain)
    run.close()


def test_no_color_means_no_colour() -> None:
    run = Run()
    run.screen.no_color = True
    run.trial(0.5)
    run.live.show_output("358bb_00000", "stdout", "\x1b[32mgreen\x1b[0m\n")
    run.show()
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", run.terminal.getvalue())
    run.close()


def test_the_best_config_is_whole_on_lines_of_its_own() -> None:
    names = [f"parameter_{i}" for i in range(9)]
    run = Run(columns=60, parameters=names)
    trial = run.story.add({name: "a value of some length" if name == names[4] else 0.125 for name in names})
    run.story.start(trial)
    for acc in (0.9, 0.5):
        run.story.report(trial, acc=acc)
    lines = lines_of(run, 60, 40)
    assert lines[3] == "best acc=0.5  358bb_00000 at iteration 2 (last value)"
    whole = ", ".join(f"{name}={'a value of some length' if name == names[4] else 0.125}" for name in names)
    at = lines.index("on the way 0.9 at iteration 1")
    assert " ".join(line.strip() for line in lines[4:at]) == whole
    assert all(line.startswith("  ") and width(line) < 60 for line in lines[4:at])
    assert len(lines_of(run, 60, 12)) < 12
    run.story.end(trial, "halted", Why("max_t", t=2, note="reached max_t=2"))
    run.show()
    last = run.close()
    assert "on the way: acc=0.9 at iteration 1" in last
    assert whole in " ".join(line.strip() for line in last.splitlines())


@pytest.mark.parametrize(
    ("rule", "word"),
    [("max_t", "finished"), ("stop", "finished"), ("budget", "finished"), ("asha", "stopped")],
)
def test_a_trial_that_reached_its_end_does_not_read_as_stopped(run: Run, rule: str, word: str) -> None:
    run.story.end(run.trial(0.5), "halted", Why(rule, t=1, note="reached max_t=1"))
    assert lines_of(run)[-1].split()[1] == word
    assert f"(1 {word}" in run.close() or word == "finished"


def test_the_remaining_time_is_shown_from_the_first_tenth_on() -> None:
    run = Run(columns=100, total=lambda: 10)
    run.story.end(run.trial(0.5))
    run.now = 6.0
    run.trial(0.5)
    assert (
        "about 42 s left" in lines_of(run, 100)[1]
    )  # 3 s a result, 1.5 results a trial, 2 of the running one
    run.close()


@pytest.mark.parametrize("how", ["draw", "print", "close"])
def test_a_terminal_that_became_narrower_keeps_no_stale_line(run: Run, how: str) -> None:
    run.trial(0.5)
    run.show()
    drawn = lines_of(run)
    n_wrapped = sum(max(width(line) - 1, 0) // 30 for line in drawn)
    assert n_wrapped > 0
    run.screen.width = 30
    before = len(run.terminal.getvalue())
    if how == "draw":
        run.show()
    elif how == "print":
        run.live.show_output("358bb_00000", "stdout", "y" * 70_000 + "\n")
        run.show(0.0)
    else:
        run.live.close()
    assert run.terminal.getvalue()[before:].count("\x1b[1A") >= len(drawn) - 1 + n_wrapped
    run.close()


def test_held_trials_are_counted_apart(run: Run) -> None:
    trials = [run.story.add({"lr": 1, "act": "x"}) for _ in range(2)]
    for trial in trials:
        run.story.hold(trial)
    run.trial(0.5)
    assert lines_of(run)[1].endswith("0/60 finished · 1 running · 2 held")
    run.story.hold(trials[1], is_held=False)
    assert lines_of(run)[1].endswith("0/60 finished · 1 running · 1 pending · 1 held")
    said = "0/60 trials finished, 1 running, 1 pending, 1 held, 1 result, 3.0 s so far"
    assert standing(run.progress, 3.0).startswith(said)
    run.close()


def test_a_frame_is_drawn_whole_before_a_signal_is_handled(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.trial(0.5)
    draw = run.live._draw

    def interrupted(*given: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        draw(*given)

    monkeypatch.setattr(run.live, "_draw", interrupted)
    before = len(run.terminal.getvalue())
    with pytest.raises(KeyboardInterrupt):
        run.show()
    assert "1 running" in run.terminal.getvalue()[before:]
    assert "\x1b[?25h" in run.terminal.getvalue()[before:]  # The cursor is visible again.
    run.close()
