from __future__ import annotations

import pytest

from overtone.core.messages import (
    Added,
    Ended,
    Interrupted,
    Moved,
    Record,
    Reported,
    Requested,
    Ruled,
    SaveFailed,
    Suggested,
)
from overtone.core.resources import Resources
from overtone.core.types import Checkpoint, Why
from overtone.reading.rung_standings import Standings
from overtone.reading.story_text import ordinal


def steps(done) -> list[tuple[str, str]]:
    return [(one["kind"], one["text"]) for one in done.data["steps"]]


def test_a_trial_that_was_stopped_at_a_rung(overtone, search):
    done = overtone("why", "search", 2)
    assert done.code == 0
    assert done.out.split("\n")[0] == (
        "358bb_00002 was stopped by asha at rung 1: loss=0.6 is 2nd of 3; the cutoff was 0.55."
    )
    assert "better: 358bb_00000 0.5" in done.out
    assert "not better: 358bb_00001 0.9" in done.out


def test_a_trial_that_passed_and_returned(overtone, search):
    done = overtone("why", "search", 0)
    assert "358bb_00000 ended by itself: its function returned." in done.out
    assert "No scheduler or stop condition stopped, paused or changed this trial." in done.out
    assert "passed rung 1: loss=0.5, 1st of 1 there by then" in done.out


def test_a_trial_that_a_request_ended_has_no_word_on_schedulers(overtone, tell):
    told = tell()
    trial = told.add({})
    told.start(trial)
    told.end(trial, "halted", Why("stopped", note="stopped by user1 from Python: bad"))
    told.close()
    out = overtone("why", "exp", 0).out
    assert out.startswith("358bb_00000 ended: stopped by user1 from Python: bad.\nconfig: ")


def test_a_study_has_no_function_that_returns_and_no_interruption(overtone, tell):
    told = tell(engine="Asked")
    told.run({}, 0.5)
    told.tell(Interrupted(2.0))
    told.close(finished=False)
    done = overtone("why", "exp", 0)
    assert done.out.startswith("358bb_00000 ended: its program told the end.\n")
    assert done.out.endswith("the study was closed\n")
    assert "the study was closed" in overtone("why", "exp").out


def test_a_trial_that_failed(overtone, search):
    done = overtone("why", "search", 3)
    assert done.out.startswith("358bb_00003 failed: ValueError: lr is too high.\n")


def test_the_shape_for_scripts(overtone, search):
    data = overtone("why", "search", 2, "--json").data
    assert (data["trial_id"], data["status"], data["is_ruled"], data["metric"]) == (
        "358bb_00002", "TERMINATED", True, "loss",
    )  # fmt: skip
    [ruled] = [one for one in data["steps"] if one["kind"] == "ruled"]
    assert {name: ruled[name] for name in ("decision", "t", "rung", "value", "cutoff", "rank", "of")} == {
        "decision": "stop", "t": 1, "rung": 1, "value": 0.6, "cutoff": 0.55, "rank": 2, "of": 3,
    }  # fmt: skip
    assert ruled["why"]["cutoff"] == -0.55  # as the journal has it: a score, where higher is better
    assert ruled["competitors"] == [
        {"trial_id": "358bb_00000", "t": 1, "value": 0.5},
        {"trial_id": "358bb_00002", "t": 1, "value": 0.6},
        {"trial_id": "358bb_00001", "t": 1, "value": 0.9},
    ]


def test_who_is_named_by_the_scheduler_where_the_results_do_not_tell(overtone, tell):
    told = tell()
    told.run({}, 0.5)
    told.judged({}, [0.9], Why("hyperband", 1, 1, -0.5, 3, 5, against=("358bb_00000",)))
    told.close()
    assert "against 358bb_00000" in overtone("why", "exp", 1).out
    assert overtone("why", "exp", 1, "--json").data["steps"][2]["competitors"] == []


def test_pauses_retries_losses_and_restarts_of_a_trial(overtone, tell):
    told = tell()
    source = told.run({"x": 1}, 0.1)
    trial = told.add({"x": 2})
    told.start(trial)
    told.report(trial, loss=0.7)
    why = Why("pbt", 1, note="the best quarter is copied")
    told.tell(
        Suggested(1.0, -1, None),
        Ruled(trial, 1, "restart", why, {"x": 1.2}, source),
        Moved(trial, "HALTING", 0),
    )
    told.tell(Ended(1.5, trial, 0, "halted"), Moved(trial, "PENDING", 1, why, config={"x": 1.2}))
    told._attempts[trial] = 1
    told.start(trial, restored=Checkpoint(source, 1, "uri"))
    told.tell(SaveFailed(2.0, trial, 1, "no room"))
    told.recover(trial, "OSError: disk")
    told.start(trial)
    told.tell(Ended(3.0, trial, 2, "lost", "its machine went away"), Moved(trial, "PENDING", 3, Why("lost")))
    told.tell(Requested(3.2, "save_trial", trial))
    told.tell(
        Requested(3.5, "stop_trial", trial, "enough"),
        Moved(trial, "TERMINATED", 3, Why("stop_trial", note="enough")),
    )
    told.tell(Interrupted(4.0))
    told.close(finished=False)
    found = steps(overtone("why", "exp", 1, "--json"))
    assert [kind for kind, _ in found] == [
        "created", "started", "ruled", "waits", "started", "saved", "waits", "started", "waits", "asked", "asked",
        "ended", "interrupted",
    ]  # fmt: skip
    text = " | ".join(text for _, text in found)
    assert "restarted from the state of 358bb_00000 by pbt: the best quarter is copied" in text
    assert "(attempt 2): process" in text
    assert "from the checkpoint of iteration 1 of 358bb_00000" in text
    assert "could not save: no room" in text
    assert "failed: OSError: disk; it waits to be started again" in text
    assert "was lost: its machine went away" in text
    assert "was asked to save | was asked to end: enough" in text
    assert ("cloned", "358bb_00001 went on from its state") in steps(overtone("why", "exp", 0, "--json"))


def test_a_clone_names_where_it_comes_from(overtone, tell):
    told = tell()
    told.run({}, 0.1)
    told.tell(
        Suggested(1.0, -1, None),
        Added("358bb_00001", 1, {}, Resources.of({"cpu": 1}), "1", source="358bb_00000", why=Why("pbt")),
    )
    told.close()
    assert ("created", "created from the state of 358bb_00000") in steps(overtone("why", "exp", 1, "--json"))


def test_a_trial_that_ran_when_its_driver_died(overtone, tell):
    told = tell()
    told.start(told.add({}))
    told.close(finished=False)
    done = overtone("why", "exp", 0)
    assert "was running when its driver died" in done.out
    assert "changed this trial so far." in done.out


def test_a_stop_condition(overtone, tell):
    told = tell(metric=["acc"], mode=["max"])
    trial = told.add({})
    told.start(trial)
    why = Why("stop", 1, note="acc=0.9 reached 0.8")
    told.report_stopped(trial, why, acc=0.9)
    told.end(trial, "halted", why)
    told.close()
    assert overtone("why", "exp", 0).out.startswith(
        "358bb_00000 was stopped by its stop condition: acc=0.9 reached 0.8.\n"
    )


def test_no_such_trial(overtone, search):
    done = overtone("why", "search", 4)
    assert done.code == 1
    assert "has no trial '4': it has 358bb_00000" in done.err


def test_equals_share_their_rank_and_nan_is_last():
    standings = Standings([1], "loss", "min", "training_iteration")
    for n, (trial, loss) in enumerate([("a", 2.0), ("b", float("nan")), ("c", 1.0), ("d", 1.0)]):
        standings.apply(Record(n, Reported(0.0, trial, 0, 1, {"loss": loss})))
    there = standings.at(1, 9)
    assert [one.trial_id for one in there] == ["c", "d", "a", "b"]
    assert [there.rank(one) for one in "abcd"] == [3, 4, 1, 1]
    assert [one.trial_id for one in standings.at(1, 1)] == ["a", "b"]


def test_the_schedulers_clock_tells_who_was_at_a_rung():
    standings = Standings([100], "loss", "min", "timesteps_total")
    standings.apply(Record(1, Reported(0.0, "a", 0, 1, {"loss": 5.0, "timesteps_total": 99})))
    standings.apply(Record(2, Reported(0.0, "a", 0, 2, {"loss": 4.0, "timesteps_total": 120})))
    standings.apply(Record(3, Reported(0.0, "a", 0, 3, {"loss": 3.0, "timesteps_total": 150})))
    assert [(one.t, one.value) for one in standings.at(100, 9)] == [(2, 4.0)]


@pytest.mark.parametrize(
    ("rank", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th"), (23, "23rd")],
)
def test_ordinals(rank, text):
    assert ordinal(rank) == text


def test_requests_and_who_made_them(overtone, tell):
    from overtone.core.messages import Steered

    told = tell()
    trial = told.add({"lr": 1})
    told.start(trial)
    who = "user1 from the dashboard"
    told.tell(
        Requested(1.0, "pause_trial", trial, "too warm", who),
        Steered(trial, is_held=True),
        Moved(trial, "HALTING", 0),
    )
    why = Why("pause_trial", note=f"paused by {who}: too warm")
    told.tell(Ended(1.5, trial, 0, "halted"), Moved(trial, "PAUSED", 1, why))
    told.tell(Requested(1.6, "note", trial, "look at this", who))
    told.tell(Requested(1.7, "set_priority", trial, priority=5.0), Steered(trial, priority=5.0))
    told.tell(Requested(1.8, "set_limits", who=who, limits={"max_concurrent": 4}))
    clone = "358bb_00001"
    told.tell(
        Requested(1.9, "add", trial, "", who, config={"lr": 2}, deferred=True),
        Added(
            clone,
            1,
            {"lr": 2},
            Resources.of({"cpu": 1}),
            "1",
            why=Why("add", note=f"clone of {trial}, added by {who}"),
        ),
    )
    told.close(finished=False)
    done = overtone("why", "exp", 0)
    assert done.out.startswith(f"{trial} is held until it is resumed: {who} asked it to pause: too warm.")
    assert steps(overtone("why", "exp", 0, "--json"))[2:] == [
        ("asked", f"{who} asked it to pause: too warm"),
        ("waits", f"paused by {who}: too warm; it waits to be resumed"),
        ("asked", f"note by {who}: look at this"),
        ("asked", "its priority was set to 5"),
        ("asked", f"a clone of {trial} was added by {who}"),
    ]
    assert ("created", f"created: clone of {trial}, added by {who}") in steps(
        overtone("why", "exp", 1, "--json")
    )
    texts = [(one["trial_id"], one["text"]) for one in overtone("why", "exp", "--json").data]
    assert texts[3:] == [
        ("", f"limits were set to max_concurrent=4 by {who}"),
        (clone, f"a clone of {trial} was added by {who} (no driver ran: it takes effect at the next resume)"),
    ]
    assert f"limits were set to max_concurrent=4 by {who}" in overtone("why", "exp").out


def test_an_experiment_without_requests(overtone, search):
    assert "Nobody asked anything" in overtone("why", "search").out
