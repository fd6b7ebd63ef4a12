"""Tests of saving, pausing, restarting and cloning in an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.core.types import Checkpoint
from overtone.testing import faulty
from overtone.testing.engine_suite import EngineSuite, MadeScript, halting_at, last_end, saved_by
from overtone.testing.scripted import go_on, halt, proceed


class Saving(EngineSuite):
    """Checkpoints of classes and of functions of each kind."""

    def test_saves_and_goes_on(self, script: MadeScript) -> None:
        def answer(event: m.Event) -> list[m.Command]:
            return [proceed(event, save=event.t == 2)] if isinstance(event, m.Reported) else []

        driver = script(self.saving(), answer)
        driver.start()
        driver.run()
        assert driver.story() == [
            "started",
            "reported 1",
            "reported 2",
            "saved 2",
            "reported 3",
            "ended returned",
        ]

    def test_pauses_and_goes_on_from_the_checkpoint(self, script: MadeScript) -> None:
        driver = script(self.saving(), halting_at(2, save=True, park=True))
        driver.start()
        driver.run()
        parked = ["started", "reported 1", "reported 2", "saved 2", "ended halted"]
        assert driver.story() == parked, driver.events
        driver.answer = go_on
        driver.start("t", attempt=1, checkpoint=saved_by(driver))
        driver.run()
        assert driver.story()[5:] == ["started", "reported 3", "ended returned"]
        resumed = driver.of()[5]
        assert isinstance(resumed, m.Started)
        assert resumed.restored == saved_by(driver)

    def test_a_clone_begins_from_its_source(self, script: MadeScript) -> None:
        driver = script(self.saving(), halting_at(2, save=True))
        driver.start("source")
        driver.run()
        driver.answer = go_on
        driver.start("clone", checkpoint=saved_by(driver, "source"))
        driver.run()
        assert driver.story("clone") == ["started", "reported 3", "ended returned"]

    def test_time_total_goes_on_after_a_restore(self, script: MadeScript) -> None:
        driver = script(self.saving(), halting_at(2, save=True))
        driver.start()
        driver.run()
        driver.answer = go_on
        driver.start("t", attempt=1, checkpoint=saved_by(driver))
        driver.run()
        before, after = (one for one in driver.events if isinstance(one, m.Reported) and one.t in (2, 3))
        total = before.metrics["time_total_s"] + after.metrics["time_this_iter_s"]
        assert after.metrics["time_total_s"] == pytest.approx(total, abs=1e-5)
        assert after.metrics["iterations_since_restore"] == 1

    def test_the_config_changes_in_place(self, script: MadeScript) -> None:
        def answer(event: m.Event) -> list[m.Command]:
            return [proceed(event, config={"n": 2, "best": 0.5})] if isinstance(event, m.Reported) else []

        driver = script(faulty.Steps if self.runs_code else _two_then_end, answer)
        driver.start(config={"n": 5})
        driver.run()
        assert driver.story() == ["started", "reported 1", "reported 2", "ended returned"]

    def test_a_function_saves_with_its_report(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.saves_each_time, halting_at(2, save=True, park=True))
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "reported 2", "ended halted"]
        last = next(event for event in driver.events if isinstance(event, m.Reported) and event.t == 2)
        assert last.checkpoint is not None
        driver.answer = go_on
        driver.start("t", attempt=1, checkpoint=last.checkpoint)
        driver.run()
        assert driver.story()[4:] == ["started", "reported 3", "ended returned"]
        assert driver.events[-2].metrics["step"] == 3  # type: ignore[union-attr]

    def test_a_cooperative_trial_is_let_go_to_save(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.saves_when_asked, halting_at(2, save=True, park=True))
        driver.start()
        driver.run()
        parked = ["started", "reported 1", "reported 2", "saved 2", "ended halted"]
        assert driver.story() == parked, driver.events
        driver.answer = go_on
        driver.start("t", attempt=1, checkpoint=saved_by(driver))
        driver.run()
        assert driver.story()[5:] == ["started", "reported 3", "ended returned"]

    def test_a_function_that_cannot_save_is_parked(self, code: None, script: MadeScript) -> None:
        if not self.parks:
            pytest.skip("this engine lets such a trial redo its work")
        driver = script(
            faulty.reports, lambda event: [halt(event, True, True)] if isinstance(event, m.Reported) else []
        )
        driver.start()
        driver.run_until(lambda: "save failed" in driver.story())
        assert driver.story() == ["started", "reported 1", "save failed"]
        driver.answer = go_on
        driver.engine.submit([m.Proceed("t", 0, 0.0)])
        driver.run()
        assert driver.story()[3:] == ["reported 2", "ended returned"]

    def test_a_parked_trial_can_be_halted(self, code: None, script: MadeScript) -> None:
        def answer(event: m.Event) -> list[m.Command]:
            if isinstance(event, m.SaveFailed):
                return [halt(event)]
            return [halt(event, True, True)] if isinstance(event, m.Reported) else []

        driver = script(faulty.reports, answer)
        driver.start()
        driver.run()
        assert driver.story()[-1] == "ended halted"

    def test_a_function_that_cannot_save_just_halts(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.reports, halting_at(1, save=True))
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended halted"]

    def test_a_failed_save_is_told(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.FailsToSave, halting_at(1, save=True))
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "save failed", "ended halted"]

    def test_a_failed_load_ends_the_trial(self, code: None, script: MadeScript) -> None:
        driver = script(faulty.FailsToLoad, halting_at(1, save=True))
        driver.start()
        driver.run()
        driver.start("t", attempt=1, checkpoint=saved_by(driver))
        driver.run()
        end = last_end(driver)
        assert (end.cause, "made to fail" in end.error) == ("raised", True)

    def test_a_trial_whose_checkpoint_is_missing_begins_anew(
        self, code: None, script: MadeScript, tmp_path: Path
    ) -> None:
        driver = script(faulty.Steps)
        driver.start(checkpoint=Checkpoint("t", 2, str(tmp_path / "gone")))
        driver.run()
        assert driver.story()[:2] == ["started", "reported 1"]
        begun = driver.of()[0]
        assert isinstance(begun, m.Started)
        assert begun.restored is None


def _two_then_end(config: Any, t: int) -> dict[str, float] | None:
    return None if t > config["n"] else {"loss": 1 / t}
