from __future__ import annotations

from overtone.core.goal import Goal
from overtone.core.table import TrialTable
from overtone.observers.display.plain_text import width
from overtone.observers.display.status_block import (
    best_line,
    best_of,
    count_line,
    error_table,
    fair_share,
    hidden_line,
    resources_line,
    select_rows,
    trial_table,
)
from overtone.observers.trial_view import Experiment, SeenTrial
from overtone.testing.scripted_records import Story

NAN = float("nan")


def seen(story: Story, parameters: list[str] | None = None) -> list[SeenTrial]:
    table = TrialTable()
    for record in story.records:
        table.apply(record)
    experiment = Experiment("train", "/results/exp", parameters)
    return [SeenTrial(row, experiment) for row in table.rows.values()]


def with_losses(*losses: object) -> list[SeenTrial]:
    story = Story()
    for loss in losses:
        trial = story.add({"lr": 0.1})
        story.start(trial)
        story.report(trial, loss=loss)
    return seen(story)


def test_fair_share_is_the_article_s() -> None:
    assert fair_share({"PENDING": 25, "RUNNING": 4, "TERMINATED": 3}, 20) == {
        "PENDING": 13,
        "RUNNING": 4,
        "TERMINATED": 3,
    }


def test_fair_share_never_gives_more_than_there_is_room_for() -> None:
    for room in range(12):
        shares = fair_share({"ERROR": 2, "PENDING": 5, "RUNNING": 3}, room)
        assert sum(shares.values()) == min(room, 10)


def test_nan_and_what_is_no_number_never_are_the_best() -> None:
    best = best_of(with_losses(NAN, "0.1", 0.5, 0.3, NAN), "loss", "min")
    assert best is not None
    assert (best[0].trial_id, best[1]) == ("358bb_00003", 0.3)
    assert best_of(with_losses(NAN), "loss", "max") is None


def test_what_breaks_a_constraint_is_never_the_best() -> None:
    best = best_of(with_losses(0.5, 0.3), "loss", "min", Goal(constraints={"loss": -0.4}).allows)
    assert best is None
    best = best_of(with_losses(0.5, 0.3), "loss", "max", Goal(constraints={"loss": 0.4}).allows)
    assert best is not None
    assert best[0].trial_id == "358bb_00001"


def test_resources_show_only_what_there_is() -> None:
    assert resources_line({"cpu": 1.5}, {"cpu": 2, "memory": 7.7 * 2**30}) == (
        "Resources requested: 1.5/2 CPUs, 0.0/0 GPUs, 0.0/7.7 GiB heap"
    )


def test_count_line_without_a_total() -> None:
    assert count_line(with_losses(1, 2), None) == "Number of trials: 2 (2 RUNNING)"
    assert count_line([], 60) == "Number of trials: 0/60"


def test_rows_sorted_by_metric_are_best_first_and_nan_last() -> None:
    rows, hidden = select_rows(with_losses(3.0, NAN, 1.0, 2.0), 3, "loss", "min")
    assert [row.metrics["loss"] for row in rows] == [1.0, 2.0, 3.0]
    assert hidden == {"RUNNING": 1}
    assert hidden_line(hidden) == "... 1 more trials not shown (1 RUNNING)"


def test_table_finds_its_columns() -> None:
    story = Story()
    for lr in (0.1, 0.2):
        trial = story.add({"lr": lr, "net": {"width": int(lr * 10)}, "gpu": True})
        story.start(trial)
        story.report(trial, f1=lr)
    header = trial_table(seen(story))[1]
    assert [cell.strip() for cell in header.strip("|").split("|")] == [
        "Trial name",
        "status",
        "loc",
        "lr",
        "net/width",
        "iter",
        "total time (s)",
        "f1",
    ]


def test_table_shows_the_columns_that_were_named() -> None:
    lines = trial_table(with_losses(0.25), {"lr": "rate"}, {"loss": "L", "absent": "A"})
    assert [cell.strip() for cell in lines[1].strip("|").split("|")] == [
        "Trial name",
        "status",
        "loc",
        "rate",
        "L",
    ]
    assert "0.25" in lines[3]


def test_table_of_hostile_and_wide_values_stays_in_shape() -> None:
    story = Story()
    for value in ("\x1b[2J\x1b[31m", "激活函数", "a\nb", ["x"] * 50):
        story.add({"v": value})
    lines = trial_table(seen(story))
    assert all(line.isprintable() for line in lines)
    assert len({width(line) for line in lines}) == 1
    assert len(lines) == 4 + 4


def test_best_line_is_one_printable_line() -> None:
    line = best_line("358bb_00001", "acc", 0.5, {"v": "\x1b[2J\n"})
    assert line == "Current best trial: 358bb_00001 with acc=0.5 and parameters={'v': '\\x1b[2J\\n'}"


def test_errors_name_the_file_with_the_traceback() -> None:
    story = Story()
    for _ in range(3):
        trial = story.add({"lr": 1})
        story.start(trial)
        story.end(trial, "raised", error="ValueError: bad \x1b lr")
    lines = error_table(seen(story), 2)
    assert lines[0] == "Number of errored trials: 3"
    assert "train_358bb_00000" in lines[4]
    assert "ValueError: bad \\x1b lr" in lines[4]
    assert "358bb_00000/error.txt" in lines[4]
    assert lines[-1] == "... 1 more failed trials not shown"
    assert error_table(with_losses(1.0), 2) == []
