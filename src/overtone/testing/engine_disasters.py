"""Tests of failures that an engine must survive."""

from __future__ import annotations

import math
import os
import pickle
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.testing import faulty
from overtone.testing.engine_suite import EngineSuite, MadeScript, halting_at, last_end
from overtone.testing.scripted import Script
from overtone.worker.frames import MARK, framed


def _about(trial_id: str, body: bytes) -> bytes:
    """Return a frame about a trial; a body that already has a mark is not framed again."""
    body = body.replace(b"TRIAL", trial_id.encode())
    return body if MARK in body else framed(body)


_NONSENSE = {
    "noise": bytes(range(250)) + MARK,
    "a pickle": pickle.dumps(("reported", "TRIAL", 0, 2, '{"loss":0}', None)),
    "noise after a mark": MARK + b"\xff" * 100_000,
    "no array": b'{"kind":"ended"}',
    "an unknown kind": b'["cheered","TRIAL",0]',
    "a kind that is not a text": b'[["ended"],"TRIAL",0]',
    "a kind of others": b'["forked",1,1]',
    "too few fields": b'["reported","TRIAL",0]\n{}',
    "a report without metrics": b'["reported","TRIAL",0,2,null]',
    "metrics that are a list": b'["reported","TRIAL",0,2,null]\n[1]',
    "metrics that are cut": b'["reported","TRIAL",0,2,null]\n{"loss":0',
    "a time that is not a number": b'["reported","TRIAL",0,NaN,null]\n{"loss":0}',
    "a time before all": b'["reported","TRIAL",0,-1,null]\n{"loss":0}',
    "a time beyond all": b'["reported","TRIAL",0,1%b,null]\n{"loss":0}' % (b"0" * 400),
    "an end of no kind": b'["ended","TRIAL",0,"asked",7,null]',
    "another trial's end": b'["ended","victim",0,"returned","",""]',
    "another attempt": b'["reported","TRIAL",1,2,null]\n{"loss":0}',
    "another trial's checkpoint": b'["saved","TRIAL",0,["victim",1,"uri",0,false]]',
    "another process": b'["started","TRIAL",0,1,"host",null]',
    "metrics nested deeply": b'["reported","TRIAL",0,2,null]\n{"a":%b%b}' % (b"[" * 500, b"]" * 500),
}
"""Bodies of frames that no trial sends."""


class Disasters(EngineSuite):
    """Trials that raise, exit, crash, hang, flood and leave things behind; close at any time."""

    def test_raises(self, script: MadeScript) -> None:
        driver = script(faulty.raises if self.runs_code else _failing_curve)
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended raised"]
        end = last_end(driver)
        assert end.error == "ValueError: this trial was made to fail"
        first_frame = end.traceback.split("File ", 2)[1]
        assert "faulty.py" in first_frame or "engine_disasters.py" in first_frame

    @pytest.mark.parametrize(
        ("trainable", "story"),
        [
            (faulty.reports_nothing, ["started", "ended returned"]),
            (faulty.returns_metrics, ["started", "reported 1", "ended returned"]),
            (faulty.yields, ["started", "reported 1", "reported 2", "ended returned"]),
            (faulty.raises_at_once, ["started", "ended raised"]),
            (faulty.raises_base_exception, ["started", "reported 1", "ended raised"]),
            (faulty.exits_with_zero, ["started", "reported 1", "ended returned"]),
            (faulty.exits_with_three, ["started", "reported 1", "ended raised"]),
            (faulty.reports_unpicklable, ["started", "reported 1", "ended returned"]),
            (faulty.reports_nan, ["started", "reported 1", "ended returned"]),
            (faulty.floods_stdout, ["started", "reported 1", "reported 2", "ended returned"]),
        ],
    )
    def test_disaster(self, code: None, script: MadeScript, trainable: Any, story: list[str]) -> None:
        driver = script(trainable)
        driver.start()
        driver.run()
        assert driver.story() == story

    @pytest.mark.parametrize(
        ("trainable", "story"),
        [
            (faulty.exits_hard, ["started", "reported 1", "ended killed"]),
            (faulty.exits_hard_at_once, ["started", "ended killed"]),
            (faulty.kills_itself, ["started", "reported 1", "ended lost"]),
            (faulty.segfaults, ["started", "reported 1", "ended killed"]),
        ],
    )
    def test_death(self, isolated: None, script: MadeScript, trainable: Any, story: list[str]) -> None:
        driver = script(trainable)
        driver.start()
        driver.run()
        assert driver.story() == story
        assert last_end(driver).error

    def test_the_engine_goes_on_after_a_death(self, isolated: None, script: MadeScript) -> None:
        driver = script(faulty.exits_hard, reuse=True)
        for i in range(4):
            driver.start(f"t{i}")
        driver.run()
        for i in range(4):
            assert driver.story(f"t{i}") == ["started", "reported 1", "ended killed"]

    def test_a_huge_result_arrives_whole(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.reports_huge)
        driver.start()
        driver.run()
        sizes = [len(event.metrics["text"]) for event in driver.events if isinstance(event, m.Reported)]
        assert sizes == [5_000_000, 5_000_000]

    def test_nan_and_infinity_arrive(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.reports_nan)
        driver.start()
        driver.run()
        metrics = next(event.metrics for event in driver.events if isinstance(event, m.Reported))
        assert math.isnan(metrics["loss"])
        assert (metrics["high"], metrics["low"]) == (math.inf, -math.inf)

    def test_a_generator_is_closed_on_halt(self, code: None, script: MadeScript, tmp_path: Path) -> None:
        driver = script(faulty.yields, halting_at(1))
        driver.start(config={"closed": str(tmp_path / "closed")})
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended halted"]
        assert (tmp_path / "closed").exists()

    def test_a_report_after_the_halt_raises_again(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.reports_after_halt, halting_at(1))
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended halted"]

    def test_an_unclean_halt_does_not_harm_the_next_trial(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.reports_after_halt, halting_at(1), reuse=True)
        for i in range(4):
            driver.start(f"t{i}")
        driver.run()
        for i in range(4):
            assert driver.story(f"t{i}") == ["started", "reported 1", "ended halted"]

    @pytest.mark.parametrize("trainable", [faulty.ignores_halt, faulty.ignores_halt_and_sigterm])
    def test_a_trial_that_ignores_its_halt_is_killed(
        self, isolated: None, script: MadeScript, trainable: Any
    ) -> None:
        driver = script(trainable, halting_at(1), grace_s=self.short_grace_s)
        driver.start()
        driver.run()
        assert driver.story()[:2] == ["started", "reported 1"]
        assert driver.story()[-1] in ("ended killed", "ended halted")

    def test_a_busy_trial_is_killed_after_the_grace_period(self, isolated: None, script: MadeScript) -> None:
        driver = script(faulty.trains_for_long, grace_s=self.short_grace_s)
        driver.start()
        driver.run_until(lambda: "reported 1" in driver.story())
        driver.engine.submit([m.Halt("t", 0)])
        driver.run()
        assert driver.story()[-1] in ("ended killed", "ended halted")

    def test_dies_while_saving(self, isolated: None, script: MadeScript) -> None:
        driver = script(faulty.DiesWhileSaving, halting_at(1, save=True))
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended killed"]

    def test_children_end_with_their_trial(self, isolated: None, script: MadeScript, tmp_path: Path) -> None:
        driver = script(faulty.leaves_children)
        driver.start(config={"pid_file": str(tmp_path / "pid")})
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended returned"]
        pid = int((tmp_path / "pid").read_text())
        assert is_gone(pid)

    @pytest.mark.parametrize(
        "trainable",
        [faulty.runs_for_ever, faulty.trains_for_long, faulty.ignores_halt_and_sigterm, faulty.floods_stdout],
    )
    def test_close_ends_what_runs(self, isolated: None, script: MadeScript, trainable: Any) -> None:
        driver = script(trainable)
        driver.start()
        driver.run_until(lambda: "reported 1" in driver.story())
        pid = next(event.pid for event in driver.events if isinstance(event, m.Started))
        driver.engine.close()
        assert is_gone(pid)

    def test_close_right_after_a_start(self, script: MadeScript) -> None:
        driver = script(self.curve())
        for i in range(4):
            driver.start(f"t{i}")
        driver.handle(driver.engine.poll(60))
        driver.engine.close()

    def test_nonsense_ends_the_trial_that_sends_it_alone(self, isolated: None, script: MadeScript) -> None:
        driver = script(faulty.sends_bytes, reuse=True)
        driver.start("victim", config={"hex": ""})
        for i, (name, sent) in enumerate(_NONSENSE.items()):
            trial_id = f"t{i}"
            driver.start(trial_id, config={"hex": _about(trial_id, sent).hex()})
            driver.run_until(partial(_has_ended, driver, trial_id))
            assert driver.story(trial_id) == ["started", "reported 1", "ended killed"], name
            error = last_end(driver).error
            assert "it sent what no trial sends" in error, name
            assert len(error) < 1000, name
        before = len(driver.story("victim"))
        driver.run_until(lambda: len(driver.story("victim")) > before + 1)
        assert not _has_ended(driver, "victim")

    def test_half_a_message_is_none(self, isolated: None, script: MadeScript) -> None:
        driver = script(faulty.sends_bytes, reuse=True)
        half = _about("t", b'["reported","TRIAL",0,2,null]\n{"loss":0}')[:-3]
        driver.start(config={"hex": half.hex(), "exits": True})
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended killed"]
        driver.start("u", config={"hex": half.hex(), "exits": True})
        driver.run()
        assert driver.story("u") == ["started", "reported 1", "ended killed"]


def _has_ended(driver: Script, trial_id: str) -> bool:
    return any("ended" in what for what in driver.story(trial_id))


def _failing_curve(config: Any, t: int) -> dict[str, float]:
    if t == 2:
        raise ValueError("this trial was made to fail")
    return {"loss": 1 / t}


def is_gone(pid: int, within_s: float = 60.0) -> bool:
    """Return whether the process ends in time; a zombie that nobody has reaped yet counts as ended."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False
