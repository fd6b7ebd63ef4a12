from __future__ import annotations

import json

from overtone.cli.arguments import parsed
from overtone.cli.commands.tail import followed
from overtone.core.limits import Limits
from overtone.core.messages import Interrupted, Resumed, Ruled, Suggested
from overtone.core.types import Why
from overtone.space.nesting import tagged_tuples


def test_the_last_lines_of_one_that_has_ended(overtone, search):
    done = overtone("tail", "search", "-n", 2)
    lines = done.out.split("\n")
    assert done.code == 0
    assert lines[0].endswith("358bb_00003 started (lr=9, layers=4)")
    assert "358bb_00003 failed: ValueError: lr is too high" in lines[1]
    assert lines[2:5] == [
        "finished: 3 done, 1 failed",
        "best by last value: loss=0.2 by 358bb_00000 at iteration 4",
        "  lr=0.1, layers=2",
    ]


def test_without_single_results(overtone, search):
    text = overtone("tail", "search", "-n", 100, "--no-results").out
    assert "started" in text
    assert "iteration 1: loss" not in text
    assert "358bb_00000 iteration 1: loss=0.5" in overtone("tail", "search", "-n", 100).out


def test_lines_for_scripts(overtone, search):
    done = overtone("tail", "search", "-n", 100, "--json")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert {one["kind"] for one in lines} == {"started", "result", "ended"}
    assert set(lines[0]) == {"n", "time", "kind", "trial_id", "t", "metrics", "text"}
    result = next(one for one in lines if one["kind"] == "result")
    assert (result["trial_id"], result["t"], result["metrics"]["loss"]) == ("358bb_00000", 1, 0.5)


def test_tuples_are_shown_as_tuples(overtone, tell):
    told = tell()
    told.run({"size": tagged_tuples((3, (1, 2)))}, 0.5)
    told.close()
    assert overtone("tail", "exp").out.count("size=(3, (1, 2))") == 3


def test_what_comes_is_told_until_the_driver_is_gone(tell, capsys):
    told = tell()
    trial = told.add({"lr": 0.1})
    told.start(trial)
    told.write()
    todo = [
        lambda: told.report(trial, loss=0.5),
        lambda: told.recover(trial, "OSError: disk"),
        lambda: told.note("the metric is loss"),
        lambda: told.tell(
            Suggested(1.0, -1, None),
            Ruled(trial, 1, "pause", Why("hyperband")),
            Ruled(trial, 1, "restart", None, {}, "x"),
        ),
        lambda: (told.tell(Interrupted(2.0)), told.tell(Resumed(2.0, Limits()))),
    ]
    seen: list[str] = []

    def sleep(_: float) -> None:
        seen.append(capsys.readouterr().out)
        todo.pop(0)()
        told.write()

    followed(parsed(["tail", "exp"]), told.journal, lambda: not todo, sleep)
    seen.append(capsys.readouterr().out)
    expected = [
        "358bb_00000 started (lr=0.1)",
        "358bb_00000 iteration 1: loss=0.5, 0.0 s",
        "358bb_00000 failed and is tried again: OSError: disk",
        "note: the metric is loss",
        "358bb_00000 is restarted from the state of x",
        "a new driver goes on with the experiment",
    ]
    assert [text.rstrip("\n").split("\n")[-1].split("  ")[-1] for text in seen] == expected


def test_the_number_of_trials_is_the_one_of_the_newest_driver(overtone, tell):
    told = tell(limits={"total": 2})
    told.run({"lr": 0.1}, 0.5)
    told.tell(Resumed(2.0, Limits(total=5)))
    told.run({"lr": 0.2}, 0.4)
    told.close()
    lines = overtone("tail", "exp", "--no-results").out
    assert "trial 1/2 358bb_00000 finished" in lines
    assert "trial 2/5 358bb_00001 finished" in lines


def test_how_to_go_on_with_one_that_was_cut_off(overtone, tell):
    told = tell()
    told.start(told.add({}))
    told.close(finished=False)
    assert overtone("tail", "exp").out.endswith(
        f"crashed: 1 cut off\nto resume: overtone resume {told.folder}\n"
    )


def test_who_asked_for_what(overtone, tell):
    from overtone.core.messages import Requested

    told = tell()
    trial = told.add({})
    told.tell(Requested(1.0, "pause_trial", trial, "too warm", "user1 from the dashboard"))
    told.tell(Requested(1.0, "note", note="all is well"))
    told.close()
    out = overtone("tail", "exp").out
    assert f"{trial}: user1 from the dashboard asked it to pause: too warm" in out
    assert "note: all is well" in out
