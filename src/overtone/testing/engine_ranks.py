"""Tests of attempts that run in several processes, one for each rank."""

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
from overtone.worker.session.current import current


def meets(config: dict[str, Any]) -> tuple[int, int]:
    """Write this rank's pid to `config["folder"]`; return the rank and the size once all ranks did so."""
    rank, size, folder = current().get_world_rank(), current().get_world_size(), Path(config["folder"])
    Path(folder, f"{rank} {current().get_local_rank()}").write_text(f"{os.getpid()} ")
    while sum(" " in path.read_text() for path in folder.iterdir()) < size:
        time.sleep(0.001)
    return rank, size


def goes_wrong(config: dict[str, Any]) -> None:
    """Report for ever, but rank `config["rank"]` does what `config["what"]` says after its first report."""
    rank, size = meets(config)
    while True:
        current().report({"rank": rank, "size": size})
        if rank == config.get("rank"):
            if config["what"] == "returns":
                return
            if config["what"] == "raises":
                raise ValueError("this rank was made to fail")
            os.kill(os.getpid(), signal.SIGKILL)


def hangs(config: dict[str, Any]) -> None:
    """Ignore the halt, and SIGTERM; rank 0 ends at its halt if `config["ends"]`."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    rank, _ = meets(config)
    while True:
        try:
            current().report({"rank": rank})
        except BaseException:
            if rank == 0 and config.get("ends"):
                raise
            time.sleep(0.001)


def reports_twice(config: dict[str, Any]) -> None:
    """Report twice from rank 0; the other ranks return at once."""
    rank, size = meets(config)
    for _ in range(2 * (rank == 0)):
        current().report({"rank": rank, "size": size})


class Ranks(EngineSuite):
    """An attempt of two ranks is one attempt: it ends once, and with all its processes."""

    def begin(self, driver: Script, folder: Path, **config: Any) -> None:
        """Start an attempt of two ranks."""
        folder.mkdir(exist_ok=True)
        driver.start(config={"folder": str(folder), **config}, world_size=2)

    def check_one_end(self, driver: Script, folder: Path, cause: str) -> None:
        """Check that the attempt has ended once, with this cause, and that no process is left."""
        story = driver.story("t")
        assert story[0] == "started"
        assert [what for what in story if what.startswith(("started", "ended"))] == [
            "started",
            f"ended {cause}",
        ]
        assert story[-1] == f"ended {cause}"
        pids = [int(path.read_text()) for path in folder.iterdir()]
        assert len(pids) == 2
        assert all(is_gone(pid, within_s=10) for pid in pids)

    @pytest.mark.parametrize("rank", [0, 1])
    @pytest.mark.parametrize(("what", "cause"), [("raises", "raised"), ("dies", "lost")])
    def test_one_rank_ends_all(
        self, isolated: None, script: MadeScript, tmp_path: Path, rank: int, what: str, cause: str
    ) -> None:
        driver = script(goes_wrong, reuse=rank == 0)
        self.begin(driver, tmp_path / "pids", rank=rank, what=what)
        driver.run()
        self.check_one_end(driver, tmp_path / "pids", cause)
        assert last_end(driver).error
        alone = tmp_path / "alone"
        alone.mkdir()
        driver.start("u", config={"folder": str(alone), "rank": 0, "what": "returns"})
        driver.run()
        assert driver.story("u")[-1] == "ended returned"

    def test_the_head_that_returns_ends_all(self, isolated: None, script: MadeScript, tmp_path: Path) -> None:
        driver = script(goes_wrong)
        self.begin(driver, tmp_path / "pids", rank=0, what="returns")
        driver.run()
        self.check_one_end(driver, tmp_path / "pids", "returned")

    @pytest.mark.parametrize("reuse", [False, True])
    def test_the_head_reports_for_all(
        self, isolated: None, script: MadeScript, tmp_path: Path, reuse: bool
    ) -> None:
        driver = script(reports_twice, reuse=reuse)
        self.begin(driver, tmp_path / "pids")
        driver.run()
        assert driver.story("t") == ["started", "reported 1", "reported 2", "ended returned"]
        self.check_one_end(driver, tmp_path / "pids", "returned")
        results = [event.metrics for event in driver.events if isinstance(event, m.Reported)]
        assert [(one["rank"], one["size"]) for one in results] == [(0, 2), (0, 2)]
        assert {path.name for path in (tmp_path / "pids").iterdir()} == {"0 0", "1 1"}

    def test_a_halt_reaches_all(self, isolated: None, script: MadeScript, tmp_path: Path) -> None:
        driver = script(goes_wrong, halting_at(2))
        self.begin(driver, tmp_path / "pids")
        driver.run()
        self.check_one_end(driver, tmp_path / "pids", "halted")

    @pytest.mark.parametrize(("ends", "cause"), [(False, "killed"), (True, "halted")])
    def test_those_that_ignore_the_halt_are_killed(
        self, isolated: None, script: MadeScript, tmp_path: Path, ends: bool, cause: str
    ) -> None:
        driver = script(hangs, halting_at(1))
        self.begin(driver, tmp_path / "pids", ends=ends)
        driver.run()
        self.check_one_end(driver, tmp_path / "pids", cause)

    def test_close_ends_all(self, isolated: None, script: MadeScript, tmp_path: Path) -> None:
        driver = script(goes_wrong)
        self.begin(driver, tmp_path / "pids")
        driver.run_until(lambda: "reported 1" in driver.story())
        driver.engine.close()
        pids = [int(path.read_text()) for path in (tmp_path / "pids").iterdir()]
        assert all(is_gone(pid, within_s=10) for pid in pids)
