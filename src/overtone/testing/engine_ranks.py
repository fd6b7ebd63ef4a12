"""Tests of attempts that have ranks of distributed training."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from overtone.core import messages as m
from overtone.testing.engine_disasters import is_gone
from overtone.testing.engine_suite import EngineSuite, MadeScript, halting_at, last_end
from overtone.testing.scripted import Script
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.reports import Report
from overtone.worker.gang.trial_host import TrialHost
from overtone.worker.session.current import current

SIZE = 2


def leads(config: dict[str, Any]) -> None:
    """Run `config["n_ranks"]` ranks, restart them `config["restarts"]` times, and report what they report."""
    session = current()
    note(config, "head")

    def report(reports: list[Report]) -> None:
        fail(config, "head")
        try:
            session.report({"ranks": [one.metrics["rank"] for one in reports]})
        except BaseException:
            if config.get("is_deaf"):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(1000)
            raise

    gang = Gang(TrialHost(session), config.get("n_ranks", SIZE))
    gang.start()
    for _ in range(config.get("restarts", 0)):
        gang.call(works, config, gang.generation, 0)
        gang.restart()
    gang.run(works, config, gang.generation, config.get("reports", 2), on_report=report)
    if config.get("tidy", True):
        gang.shutdown()


def works(config: dict[str, Any], generation: int, reports: int) -> None:
    """Report `reports` times from a rank, which fails as the config says after its first report."""
    rank = current().get_world_rank()
    note(config, f"{generation}-{rank}")
    for count in range(reports):
        current().report({"rank": rank})
        Path(config["folder"], f"reports {rank}").write_text(str(count + 1))
        fail(config, rank)


def note(config: dict[str, Any], name: str) -> None:
    """Write this process's pid to the file `name` in the folder of the config."""
    Path(config["folder"], f"pid {name}").write_text(str(os.getpid()))


def fail(config: dict[str, Any], who: str | int) -> None:
    """Do `config["what"]` if that is for `who`."""
    if config.get("who") != who:
        return
    if config["what"] == "raises":
        raise ValueError("this process was made to fail")
    if config["what"] == "exits":
        os._exit(0)
    if config["what"] == "hangs":
        time.sleep(1000)
    os.kill(os.getpid(), signal.SIGKILL)


class Ranks(EngineSuite):
    """An attempt with a head and two ranks is one attempt: it ends once, and with all its processes."""

    def begin(self, driver: Script, folder: Path, **config: Any) -> None:
        """Start an attempt with ranks; the trial is named like the folder."""
        folder.mkdir()
        driver.start(folder.name, config={"folder": str(folder), **config}, n_ranks=SIZE)

    def pids(self, folder: Path) -> dict[str, int]:
        """Return the pid of each process, by its name."""
        return {path.name.split()[1]: int(path.read_text()) for path in folder.glob("pid *")}

    def check_one_end(self, driver: Script, folder: Path, cause: str) -> None:
        """Check that the attempt has ended once, with this cause, and that no process is left."""
        story = driver.story("t")
        ends = [what for what in story if what.startswith(("started", "ended"))]
        assert ends == ["started", f"ended {cause}"]
        assert story[-1] == f"ended {cause}"
        pids = self.pids(folder)
        assert len(pids) == 1 + SIZE
        assert all(is_gone(pid) for pid in pids.values())

    @pytest.mark.parametrize(("reuse", "tidy"), [(False, True), (True, False)])
    def test_the_head_reports_for_all(
        self, isolated: None, script: MadeScript, tmp_path: Path, reuse: bool, tidy: bool
    ) -> None:
        driver = script(leads, reuse=reuse)
        self.begin(driver, tmp_path / "t", tidy=tidy)
        driver.run()
        assert driver.story("t") == ["started", "reported 1", "reported 2", "ended returned"]
        if not reuse:
            self.check_one_end(driver, tmp_path / "t", "returned")
        self.begin(driver, tmp_path / "u")
        driver.run()
        assert driver.story("u")[-1] == "ended returned"
        results = [event.metrics["ranks"] for event in driver.events if isinstance(event, m.Reported)]
        assert results == [[0, 1]] * 4

    @pytest.mark.parametrize(
        ("who", "what", "cause", "error"),
        [
            ("head", "raises", "raised", "ValueError"),
            ("head", "dies", "lost", "SIGKILL"),
            (0, "raises", "raised", "rank 0"),
            (0, "exits", "killed", "rank 0 exited with code 0"),
            (1, "dies", "lost", "rank 1 killed by signal 9"),
        ],
    )
    def test_one_process_ends_all(
        self,
        isolated: None,
        script: MadeScript,
        tmp_path: Path,
        who: str | int,
        what: str,
        cause: str,
        error: str,
    ) -> None:
        driver = script(leads)
        self.begin(driver, tmp_path / "t", who=who, what=what)
        driver.run()
        self.check_one_end(driver, tmp_path / "t", cause)
        assert error in last_end(driver).error

    def test_a_halt_reaches_all_at_the_same_report(
        self, isolated: None, script: MadeScript, tmp_path: Path
    ) -> None:
        driver = script(leads, halting_at(3))
        self.begin(driver, tmp_path / "t", reports=1000)
        driver.run()
        self.check_one_end(driver, tmp_path / "t", "halted")
        assert {path.read_text() for path in (tmp_path / "t").glob("reports *")} == {"2"}

    def test_those_that_ignore_the_halt_are_killed(
        self, isolated: None, script: MadeScript, tmp_path: Path
    ) -> None:
        driver = script(leads, halting_at(1), grace_s=self.short_grace_s)
        self.begin(driver, tmp_path / "t", is_deaf=True)
        driver.run()
        self.check_one_end(driver, tmp_path / "t", "killed")

    def test_close_ends_all(self, isolated: None, script: MadeScript, tmp_path: Path) -> None:
        driver = script(leads)
        self.begin(driver, tmp_path / "t", who=1, what="hangs")
        driver.run_until(lambda: (tmp_path / "t" / "reports 1").exists())
        driver.engine.close()
        assert all(is_gone(pid) for pid in self.pids(tmp_path / "t").values())

    def test_a_new_generation_starts_when_the_old_one_is_gone(
        self, isolated: None, script: MadeScript, tmp_path: Path
    ) -> None:
        driver = script(leads)
        self.begin(driver, tmp_path / "t", restarts=1)
        driver.run()
        assert driver.story("t")[-1] == "ended returned"
        pids = self.pids(tmp_path / "t")
        assert sorted(pids) == ["0-0", "0-1", "1-0", "1-1", "head"]
        assert len(set(pids.values())) == len(pids)

    def test_too_few_bundles_are_an_error_of_the_head(
        self, isolated: None, script: MadeScript, tmp_path: Path
    ) -> None:
        driver = script(leads)
        self.begin(driver, tmp_path / "t", n_ranks=SIZE + 2)
        driver.run()
        assert driver.story("t") == ["started", "ended raised"]
        assert "resources_per_trial" in last_end(driver).error
