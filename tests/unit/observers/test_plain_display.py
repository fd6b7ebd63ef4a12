from __future__ import annotations

import io
import re
from typing import Any

import pytest

from overtone.core.goal import Goal
from overtone.core.table import TrialTable
from overtone.core.types import Why
from overtone.observers.display.display_context import ConsoleFacts
from overtone.observers.display.plain_display import PlainDisplay
from overtone.observers.display.progress import Progress
from overtone.observers.display.recent_events import LINES_PER_SECOND
from overtone.observers.display.safe_stream import Writer
from overtone.testing.scripted_records import Story


class Run:
    """A story that is shown as it is told, on a clock that the test turns."""

    def __init__(self, tells_trials: bool = True, keeps_results: bool = False, **more: Any) -> None:
        self.now = 100.0
        self.out, self.err = io.StringIO(), io.StringIO()
        known: dict[str, Any] = {"metric": "mean_accuracy", "mode": "max", "total": lambda: 60, **more}
        self.facts = ConsoleFacts(
            "exp", "/results/exp", "local engine: 2 CPUs", lambda: self.now - 100, **known
        )
        self.progress = Progress(self.facts, TrialTable(), keeps_results=keeps_results)
        self.lines = PlainDisplay(
            self.progress, Writer(self.out), lambda: self.now, tells_trials=tells_trials, err=Writer(self.err)
        )
        self.lines.open()
        self.story = Story()
        self._told = 0

    def show(self) -> list[str]:
        """Tell what is new in the story; the lines that this printed."""
        before = len(self.out.getvalue())
        for record in self.story.records[self._told :]:
            self.progress.table.apply(record)
            self.progress.apply(record)
        self._told = len(self.story.records)
        self.lines.refresh()
        self.progress.clear_news()
        return self.out.getvalue()[before:].splitlines()

    def close(self) -> list[str]:
        before = len(self.out.getvalue())
        self.lines.close()
        return self.out.getvalue()[before:].splitlines()

    def trial(self, accuracy: float, seconds: float = 1.2, **config: object) -> str:
        trial = self.story.add({"lr": 0.01, **config})
        self.story.start(trial)
        self.story.time += seconds
        self.story.report(trial, mean_accuracy=accuracy)
        return trial


def test_first_line_says_which_engine_runs_it() -> None:
    assert Run().out.getvalue().splitlines() == [
        "local engine: 2 CPUs",
        "exp, 60 trials, results in /results/exp",
    ]


def test_a_finished_trial_is_one_line() -> None:
    run = Run()
    run.story.end(run.trial(0.981))
    run.story.end(run.trial(0.9743, act="relu"))
    assert run.show() == [
        "trial 1/60 358bb_00000 finished: mean_accuracy=0.981 after 1 iteration, 1.2 s (lr=0.01)"
        "  best so far 0.981 (last value of 358bb_00000)",
        "trial 2/60 358bb_00001 finished: mean_accuracy=0.9743 after 1 iteration, 1.2 s (lr=0.01, act=relu)"
        "  best so far 0.981 (last value of 358bb_00000)",
    ]


def test_a_stopped_trial_says_rule_and_rung() -> None:
    run = Run()
    why = Why("asha", rung=4, rank=7, of=9, cutoff=0.95)
    run.story.end(run.trial(0.5), "halted", why)
    assert run.show()[0].startswith(
        "trial 1/60 358bb_00000 stopped by asha at rung 4 (rank 7 of 9, cutoff 0.95): mean_accuracy=0.5"
    )


def test_a_cutoff_is_shown_in_the_user_s_sign() -> None:
    run = Run(metric="loss", mode="min")
    trial = run.story.add({"lr": 1})
    run.story.start(trial)
    run.story.report(trial, loss=3.0)
    run.story.end(trial, "halted", Why("asha", rung=1, cutoff=-2.5))
    assert "stopped by asha at rung 1 (cutoff 2.5): loss=3" in run.show()[0]


def test_a_stop_criterion_is_an_ordinary_end() -> None:
    run = Run()
    run.story.end(run.trial(0.99), "halted", Why("stop", t=1, note="mean_accuracy >= 0.99"))
    assert "finished (mean_accuracy >= 0.99): mean_accuracy=0.99" in run.show()[0]


def test_a_trial_that_a_person_stopped_has_not_finished() -> None:
    run = Run()
    run.story.end(run.trial(0.9), "halted", Why("stop", note="stopped by ada from Python"))
    run.story.end(run.trial(0.8), "halted", Why("stop_trial", note="stopped by ada from Python: too slow"))
    first, second = run.show()
    assert "358bb_00000 stopped by ada from Python: mean_accuracy=0.9" in first
    assert "358bb_00001 stopped by ada from Python: too slow: mean_accuracy=0.8" in second
    assert any("2 TERMINATED (2 stopped by request)" in line for line in run.close())


def test_a_failed_trial_says_its_error_in_one_harmless_line() -> None:
    run = Run()
    run.story.end(run.trial(0.5), "raised", error="ValueError: bad \x1b[2Jlr\nmore")
    assert run.show() == [
        "trial 1/60 358bb_00000 failed after 1 iteration: "
        "ValueError: bad \\x1b[2Jlr (see 358bb_00000/error.txt)"
    ]


def test_notes_are_told() -> None:
    run = Run()
    run.story.note("taking metric='acc'")
    assert run.show() == ["note: taking metric='acc'"]


def test_silence_is_broken_every_half_minute() -> None:
    run = Run(tells_trials=True)
    trial = run.trial(0.9)
    assert run.show() == []
    run.now += 29
    assert run.show() == []
    run.now += 1
    line = "0/60 trials finished, 1 running, 1 result, 0.0333/s, 30 s so far"
    line += "  best so far 0.9 (last value of 358bb_00000)"
    assert run.show() == [line]
    run.now += 10
    run.story.end(trial)
    assert len(run.show()) == 1
    run.now += 29
    assert run.show() == []


def test_without_lines_for_trials_the_standing_still_comes() -> None:
    run = Run(tells_trials=False)
    run.story.end(run.trial(0.9))
    assert run.show() == []
    run.now += 30
    assert run.show()[0].startswith("1/60 trials finished")


def test_what_trials_wait_for_is_in_the_standing() -> None:
    run = Run(waits=lambda: "waiting for gpu 1: no node has that now")
    run.now += 30
    assert run.show() == [
        "0/60 trials finished, 0 results, 30 s so far, waiting for gpu 1: no node has that now"
    ]


def test_many_short_trials_are_counted_and_the_numbers_add_up() -> None:
    run = Run()
    printed: list[str] = []
    per_second: dict[int, int] = {}
    n = 0
    for _ in range(50):  # 5 s of 400 trials/s
        for _ in range(40):
            run.story.end(run.trial(0.5, seconds=0.001))
            n += 1
        lines = run.show()
        printed += lines
        per_second[int(run.now - 100 + 1e-9)] = per_second.get(int(run.now - 100 + 1e-9), 0) + len(lines)
        run.now += 0.1
    printed += run.close()
    single = [line for line in printed if line.startswith("trial ")]
    more = [
        int(found[1]) for line in printed if (found := re.match(r"\.\.\. (\d+) more trials finished", line))
    ]
    assert len(single) + sum(more) == n
    assert max(per_second.values()) <= LINES_PER_SECOND
    assert len(single) > 400
    assert f"{n} TERMINATED" in printed[-5]
    counts = [int(line.split()[1].split("/")[0]) for line in single]
    assert counts == sorted(set(counts))


def test_each_result_gets_a_line_where_results_are_kept() -> None:
    run = Run(keeps_results=True)
    trial = run.trial(0.25)
    run.story.report(trial, other=1)
    assert run.show() == [
        "358bb_00000 iteration 1: mean_accuracy=0.25, 1.2 s",
        "358bb_00000 iteration 2: no mean_accuracy, 1.2 s",
    ]


def test_last_lines_say_what_came_out_and_where_to_look() -> None:
    run = Run(has_tensorboard=True)
    run.story.end(run.trial(0.9))
    run.story.end(run.trial(0.5), "halted", Why("asha", rung=1))
    run.story.end(run.trial(0.1), "raised", error="ValueError: x")
    run.now += 58
    run.show()
    assert run.close() == [
        "3 trials, 3 results in 58 s: 2 TERMINATED (1 finished, 1 stopped by asha), 1 ERROR",
        "best by last value: mean_accuracy=0.9 by 358bb_00000 at iteration 1",
        "  lr=0.01",
        "failed: 1, tracebacks in /results/exp/358bb_00002/error.txt",
        "results: /results/exp",
        "look at them: tensorboard --logdir /results/exp",
        "plots and tables in one page: overtone report /results/exp",
    ]


def test_the_best_at_the_end_is_told_by_last_results_the_oldest_of_equals() -> None:
    run = Run()
    falls, rises, equal = run.trial(0.95), run.trial(0.85), run.trial(0.8)
    run.story.report(falls, mean_accuracy=0.3)
    run.story.report(rises, mean_accuracy=0.8)
    for trial in (equal, falls, rises):
        run.story.end(trial)
    run.show()
    assert run.close()[1:4] == [
        "best by last value: mean_accuracy=0.8 by 358bb_00001 at iteration 2",
        "  lr=0.01",
        "  on the way: mean_accuracy=0.85 at iteration 1",
    ]


def test_without_results_there_is_nothing_to_look_at_in_tensorboard() -> None:
    run = Run(has_tensorboard=True)
    trial = run.story.add({})
    run.story.start(trial)
    run.story.end(trial, "raised", error="ValueError: x")
    run.show()
    assert not [line for line in run.close() if "tensorboard" in line]


def test_a_run_without_a_number_as_its_metric_says_so() -> None:
    run = Run(metric="acc")
    run.story.end(run.trial(0.5))
    run.show()
    assert "best: none, no trial reported a number as acc" in run.close()


def test_without_a_goal_the_first_metrics_are_shown() -> None:
    run = Run(metric=None)
    run.story.end(run.trial(0.5))
    assert run.show()[0].startswith("trial 1/60 358bb_00000 finished: mean_accuracy=0.5 after 1 iteration")


def test_what_trials_print_comes_line_by_line() -> None:
    run = Run()
    before = run.out.getvalue()
    for text in ("epo", "ch 1\nepoch", " 2\n", "rest"):
        run.lines.show_output("358bb_00000", "stdout", text)
    run.lines.show_output("358bb_00000", "stderr", "warning\n")
    assert run.out.getvalue()[len(before) :] == "epoch 1\nepoch 2\n"
    assert run.err.getvalue() == "warning\n"
    assert run.close()[0] == "rest"


class Gone(io.StringIO):
    """A pipe whose reader has left."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_leaves_does_not_end_the_run() -> None:
    writer = Writer(Gone())
    writer.lines(["a"])
    writer.lines(["b"])


def test_a_stream_that_knows_only_ascii_gets_the_rest_spelled_out() -> None:
    raw = io.BytesIO()
    writer = Writer(io.TextIOWrapper(raw, encoding="ascii"))
    writer.lines(["lr=学"])
    assert raw.getvalue() == b"lr=\\u5b66\n"
    assert not writer.is_unicode


@pytest.mark.parametrize("flushes", [0, 1, 5])
def test_flushes_without_news_print_nothing(flushes: int) -> None:
    run = Run()
    assert [run.show() for _ in range(flushes)] == [[]] * flushes


def test_without_tensorboardx_the_last_lines_name_the_extra() -> None:
    run = Run(lacks_tensorboard=True)
    run.story.end(run.trial(0.5))
    run.show()
    assert 'TensorBoard files are written after: pip install "overtone[tensorboard]"' in run.close()


def test_trials_that_end_at_a_default_first_rung_are_explained_once() -> None:
    settings = {"grace_period": 1, "max_t": 100, "reduction_factor": 4}

    def told(n_stopped: int, **facts: object) -> list[str]:
        run = Run(**facts)
        for _ in range(n_stopped):
            run.story.end(run.trial(0.5), "halted", Why("asha", rung=1))
        for _ in range(3):
            run.story.end(run.trial(0.5), "halted", Why("asha", rung=4))
        run.show()
        return [line for line in run.close() if "first rung" in line]

    (line,) = told(4, rung_defaults=settings)
    assert line.startswith("4 of 7 trials ended at the first rung, 1. The defaults are grace_period=1")
    assert "max_t=100" in line
    assert "reduction_factor=4" in line
    assert told(3, rung_defaults=settings) == []
    assert told(4) == []


def test_of_several_objectives_the_first_ranks_and_is_named() -> None:
    run = Run(metric="a", mode="max", limits=Goal(["a", "b"], ["max", "min"]))
    trial = run.story.add({})
    run.story.start(trial)
    run.story.report(trial, a=1.0, b=2.0)
    run.story.end(trial)
    run.show()
    said = "best by last value: a=1 by 358bb_00000 at iteration 1 (a is the first of 2 objectives)"
    assert said in run.close()


def test_on_a_cluster_the_line_about_an_end_names_the_node() -> None:
    run = Run()
    for node, status in (("10.0.0.2", "returned"), ("10.0.0.3", "raised")):
        trial = run.story.add({"lr": 0.01})
        run.story.start(trial, node)
        run.story.report(trial, mean_accuracy=0.9)
        run.story.end(trial, status, error="ValueError: x" if status == "raised" else "")
    finished, failed = run.show()
    assert finished.startswith("trial 1/60 358bb_00000 on 10.0.0.2 finished: mean_accuracy=0.9")
    assert failed.startswith("trial 2/60 358bb_00001 on 10.0.0.3 failed after 1 iteration: ValueError: x")
