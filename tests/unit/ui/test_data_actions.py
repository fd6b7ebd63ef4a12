"""Actions of the page on an experiment that nobody runs, and what the page may not do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from overtone.control.requests import user_name
from overtone.core.messages import Requested
from overtone.errors import ArgumentError
from overtone.journal.codec import Codec
from overtone.journal.lines import Lines
from overtone.reading.trial_names import UnknownTrialError
from overtone.testing.scripted_journal import ScriptedJournal
from overtone.ui.data import actions
from overtone.ui.data.actions import ActionError
from overtone.ui.data.experiments import Experiments

SPACE = {"lr": {"__domain__": "uniform", "lower": 0, "upper": 1}}


@pytest.fixture
def experiment(tmp_path):
    told = ScriptedJournal(tmp_path / "exp", space=SPACE)
    told.run({"lr": 0.5}, {"loss": 1.0})
    told.write()
    told.writer.close()
    experiments = Experiments(tmp_path)
    yield experiments.get("exp")
    experiments.close()


def requests(experiment):
    decode = Codec().decode
    records = (decode(body) for body in Lines(experiment.journal))
    return [one.event for one in records if one is not None and isinstance(one.event, Requested)]


def test_a_repeated_request_is_one_record(experiment):
    first = experiment.act("note", None, {"text": "looks good"}, "a1b2c3d4")
    again = experiment.act("note", None, {"text": "looks good"}, "a1b2c3d4")
    other = experiment.act("note", "0", {"text": "looks good"}, "a1b2c3d5")
    assert again["n"] == first["n"] == other["n"] - 1
    found = requests(experiment)
    assert [(one.what, one.note, one.request) for one in found] == [
        ("note", "looks good", "a1b2c3d4"), ("note", "looks good", "a1b2c3d5")
    ]  # fmt: skip
    assert {one.who for one in found} == {f"{user_name()} from the dashboard"}
    assert found[1].trial_id == "358bb_00000"


def test_what_waits_for_a_resume(experiment):
    assert experiment.act("limits", None, {"concurrency": 3, "time": None}, "00000001")["waits"]
    assert experiment.act("priority", "0", {"priority": 2}, "00000002")["waits"]
    assert "resumed" in experiment.act("add", None, {"config": {"lr": 0.25}}, "00000003")["text"]
    experiment.act("clone", "0", {"changes": {"lr": 0.75}}, "00000004")
    limits, priority, add, clone = requests(experiment)
    assert limits.limits == {"max_concurrent": 3, "time_budget_s": None}
    assert priority.priority == 2.0
    assert (add.config, add.trial_id) == ({"lr": 0.25}, "")
    assert (clone.config, clone.trial_id, clone.source) == ({"lr": 0.75}, "358bb_00000", "358bb_00000")
    texts = [one["text"] for one in experiment.decisions()["decisions"][:4]]
    assert all("from the dashboard" in one for one in texts)
    assert {one["who"] for one in experiment.decisions()["decisions"][:4]} == {
        f"{user_name()} from the dashboard"
    }


@pytest.mark.parametrize(
    ("verb", "trial", "args", "text"),
    [
        ("pause", "0", {}, "no driver runs"),
        ("stop", None, {}, "no driver runs"),
        ("dance", None, {}, "must be one of stop"),
        ("kill_driver", None, {}, "must be one of stop"),
        ("add", None, {"config": {"lr": 7}}, "lr"),
        ("add", None, {"config": "lr"}, "must be a dict"),
        ("clone", None, {}, "must name a trial"),
        ("limits", None, {}, "at least one of"),
        ("limits", None, {"concurrency": "many"}, "max_concurrent"),
        ("priority", "0", {"priority": "high"}, "priority"),
        ("note", None, {"text": "  "}, "must be a text"),
        ("note", None, {"text": 7}, "must be a text"),
        ("note", None, {"text": "x" * 20_000}, "must be a text"),
    ],
)
def test_refusals_say_what_is_possible(experiment, verb, trial, args, text):
    before = experiment.journal.read_bytes()
    with pytest.raises(ActionError, match=text) as caught:
        experiment.act(verb, trial, args, "12345678")
    assert set(caught.value.allowed) >= {"add", "note", "limits", "priority", "clone"}
    assert experiment.journal.read_bytes() == before


@pytest.mark.parametrize(
    ("verb", "args", "text"),
    [
        ("limits", {"concurency": 3}, "limits has no argument 'concurency'; did you mean 'concurrency'"),
        (
            "limits",
            {"concurrency": 3, "tim": 1},
            "no argument 'tim'.*known: concurrency, num_samples, time, note",
        ),
        ("note", {"text": "x", "txt": "y"}, "known: text, note"),
        ("add", {"confg": {"lr": 0.5}}, "did you mean 'config'"),
        ("clone", {"change": {}}, "did you mean 'changes'"),
        ("stop", {"reason": "x"}, "known: note"),
    ],
)
def test_a_misspelt_argument_is_refused(experiment, verb, args, text):
    before = experiment.journal.read_bytes()
    with pytest.raises(ArgumentError, match=text):
        experiment.act(verb, "0", args, "12345678")
    assert experiment.journal.read_bytes() == before


def test_an_unknown_trial(experiment):
    with pytest.raises(UnknownTrialError):
        experiment.act("note", "../exp", {"text": "x"}, "12345678")


def test_only_a_demo_kills_the_driver(experiment, monkeypatch):
    experiment.is_demo = True
    with pytest.raises(ActionError, match="no driver"):
        experiment.act("kill_driver", None, {}, "12345678")
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        by = actions.this_host()
        held = actions.holder.__globals__["Holder"](victim.pid, by, 0.0)
        monkeypatch.setattr(actions, "holder", lambda journal, watches: held)
        told = experiment.act("kill_driver", None, {}, "12345678")
        assert str(victim.pid) in told["text"]
        assert victim.wait(10) == -9
        monkeypatch.setattr(actions, "holder", lambda journal, watches: held._replace(pid=2**22 + 1))
        assert experiment.act("kill_driver", None, {}, "12345678") == told  # a click that comes twice
        elsewhere = held._replace(hostname="other")
        monkeypatch.setattr(actions, "holder", lambda journal, watches: elsewhere)
        with pytest.raises(ActionError, match="another machine"):
            experiment.act("kill_driver", None, {}, "87654321")
        own = held._replace(pid=os.getpid())
        monkeypatch.setattr(actions, "holder", lambda journal, watches: own)
        with pytest.raises(ActionError, match="this process"):
            experiment.act("kill_driver", None, {}, "87654321")
    finally:
        victim.kill()
        victim.wait()
        victim.stdin.close()
