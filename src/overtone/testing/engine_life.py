"""Tests of an engine's behaviour without failures."""

from __future__ import annotations

import math
from pathlib import Path

from overtone.core import messages as m
from overtone.testing.engine_suite import EngineSuite, MadeScript
from overtone.testing.scripted import halt, proceed


class PlainLife(EngineSuite):
    """Capacity, results, orders, run-ahead, many trials."""

    def test_the_first_poll_tells_the_capacity(self, script: MadeScript) -> None:
        engine = script(self.curve()).engine
        (first,) = engine.poll(60)
        assert isinstance(first, m.CapacityChanged)
        assert all(amounts["cpu"] >= 1 for amounts in first.nodes.values())

    def test_returns(self, script: MadeScript) -> None:
        driver = script(self.curve())
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "reported 2", "ended returned"]

    def test_a_started_event_says_where_the_trial_runs(self, script: MadeScript) -> None:
        driver = script(self.curve())
        driver.start(attempt=3)
        driver.run()
        capacity, started = driver.events[:2]
        assert isinstance(capacity, m.CapacityChanged)
        assert isinstance(started, m.Started)
        assert (started.node in capacity.nodes, started.attempt, started.restored) == (True, 3, None)

    def test_results_carry_the_fields_of_a_session(self, script: MadeScript) -> None:
        driver = script(self.curve())
        driver.start()
        driver.run()
        first, second = (event for event in driver.events if isinstance(event, m.Reported))
        fields = {
            "training_iteration", "time_this_iter_s", "time_total_s", "timesteps_total", "timestamp", "date",
            "iterations_since_restore", "time_since_restore", "done",
        }  # fmt: skip
        assert fields < set(first.metrics)
        assert [event.metrics["training_iteration"] for event in (first, second)] == [1, 2]
        assert second.metrics["time_total_s"] >= first.metrics["time_total_s"] >= 0
        assert second.time >= first.time

    def test_reports_before_until_t_do_not_wait(self, script: MadeScript) -> None:
        driver = script(self.curve(), lambda event: [])
        driver.start(until_t=math.inf)
        driver.run()
        assert driver.story() == ["started", "reported 1", "reported 2", "ended returned"]

    def test_a_report_waits_from_until_t_on(self, script: MadeScript) -> None:
        answered: list[int] = []

        def answer(event: m.Event) -> list[m.Command]:
            if isinstance(event, m.Reported) and event.t >= 2:
                answered.append(event.t)
                return [proceed(event)]
            return []

        driver = script(self.curve(), answer)
        driver.start(until_t=2)
        driver.run()
        assert answered == [2]
        assert driver.story()[-1] == "ended returned"

    def test_halts_at_a_report(self, script: MadeScript) -> None:
        driver = script(self.curve(), lambda event: [halt(event)] if isinstance(event, m.Reported) else [])
        driver.start()
        driver.run()
        assert driver.story() == ["started", "reported 1", "ended halted"]

    def test_orders_for_an_earlier_attempt_do_nothing(self, script: MadeScript) -> None:
        def answer(event: m.Event) -> list[m.Command]:
            if isinstance(event, m.Reported):
                return [m.Halt(event.trial_id, event.attempt - 1), m.Halt("another", 0), proceed(event)]
            return []

        driver = script(self.curve(), answer)
        driver.start(attempt=1)
        driver.run()
        assert driver.story() == ["started", "reported 1", "reported 2", "ended returned"]

    def test_orders_after_the_end_do_nothing(self, script: MadeScript) -> None:
        driver = script(self.curve())
        driver.start()
        driver.run()
        driver.engine.submit([m.Proceed("t", 0, 0.0), m.Halt("t", 0, save=True)])
        driver.start("u")
        driver.run()
        assert driver.story("u")[-1] == "ended returned"
        assert driver.story("t")[-1] == "ended returned"

    def test_many_trials_at_once(self, script: MadeScript) -> None:
        driver = script(self.curve(), reuse=True)
        for i in range(200):
            driver.start(f"t{i}")
        driver.run()
        for i in range(200):
            assert driver.story(f"t{i}") == ["started", "reported 1", "reported 2", "ended returned"], i

    def test_a_wake_becomes_a_tick(self, script: MadeScript) -> None:
        driver = script(self.curve())
        at = driver.engine.now() + 0.05
        driver.engine.submit([m.Wake(at)])
        driver.run_until(lambda: any(isinstance(event, m.Tick) for event in driver.events))
        assert driver.events[-1].time >= at

    def test_a_discard_is_confirmed(self, script: MadeScript, tmp_path: Path) -> None:
        driver = script(self.curve())
        driver.engine.submit([m.Discard(str(tmp_path / "nothing"))])
        driver.run_until(lambda: "discarded" in driver.story())

    def test_close_twice_is_safe(self, script: MadeScript) -> None:
        driver = script(self.curve())
        driver.engine.close()
        driver.engine.close()

    def test_wake_lets_a_poll_return(self, script: MadeScript) -> None:
        driver = script(self.curve())
        driver.handle(driver.engine.poll(60))
        driver.engine.wake()
        driver.engine.poll(3600)
