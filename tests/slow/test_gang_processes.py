"""Processes of trials with ranks: what each sees, their limits, their output, and what ends them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.engines.local import Local
from overtone.testing.engine_disasters import is_gone
from overtone.worker.gang.gang import Gang
from overtone.worker.gang.plan import GangPlan
from overtone.worker.gang.trial_host import TrialHost
from overtone.worker.session.current import current

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

TWO = [{}, {"CPU": 1}, {"CPU": 1}]

BY_REFERENCE = True  # the functions of ranks are found by their names


def head(config: dict[str, Any]) -> None:
    """Run the function `config["work"]` in each rank, and report how long that took and what the ranks return."""
    began = time.monotonic()
    with Gang(
        TrialHost(current()), len(current().placement.nodes) - 1, timeout_s=config.get("timeout_s", 60.0)
    ) as gang:
        note(config, "head")
        found = gang.call(globals()[config["work"]], config)
    current().report({"began": began, "ended": time.monotonic(), "found": json.dumps(found)})


def note(config: dict[str, Any], name: str) -> None:
    new = Path(config["at"], f"new {name} {os.getpid()}")
    new.write_text(str(os.getpid()))
    new.rename(Path(config["at"], f"pid {name}"))  # the process may be killed meanwhile


def run(
    work: Callable[[dict[str, Any]], Any], at: Path, bundles: Any = TWO, engine: Any = None, **options: Any
) -> Any:
    config = {"work": work.__name__, "at": str(at), **options.pop("config", {})}
    trainable = options.pop("trainable", head)
    return tune.run(
        tune.with_resources(trainable, tune.PlacementGroupFactory(bundles)), config=config, verbose=0,
        engine=engine or Local(cpus=4), storage_path=str(at), raise_on_failed_trial=False, **options,
    )  # fmt: skip


def error_of(found: Any) -> str:
    return str(found.trials[0].error)


def all_gone(at: Path) -> bool:
    return all(is_gone(int(path.read_text())) for path in at.rglob("pid *"))


def sees(config: dict[str, Any]) -> dict[str, str]:
    names = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "RANK", "LOCAL_RANK", "WORLD_SIZE")
    return {name: os.environ.get(name, "") for name in names}


@pytest.mark.parametrize("start_method", ["warm", "spawn"])
def test_each_rank_sees_its_own_bundle(tmp_path: Path, start_method: Any) -> None:
    bundles = [{}, {"CPU": 1, "GPU": 1}, {"CPU": 2, "GPU": 2}]
    found = run(sees, tmp_path, bundles, Local(cpus=4, gpus=3, start_method=start_method))
    first, second = json.loads(found.trials[0].last_result["found"])
    assert (first["CUDA_VISIBLE_DEVICES"], second["CUDA_VISIBLE_DEVICES"]) == ("0", "1,2")
    assert (first["OMP_NUM_THREADS"], second["OMP_NUM_THREADS"]) == ("1", "2")
    assert (first["RANK"], second["RANK"], second["WORLD_SIZE"]) == ("0", "1", "2")


def prints(config: dict[str, Any]) -> None:
    print("this is rank", os.environ["RANK"])


def test_the_output_of_ranks_is_shown_and_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = run(prints, tmp_path)
    out, _ = capfd.readouterr()
    for rank in (0, 1):
        (line,) = [line for line in out.splitlines() if line.endswith(f"this is rank {rank}")]
        assert line.startswith(f"({found.trials[0]} rank={rank} pid=")
    command = [sys.executable, "-m", "overtone", "logs", found.experiment_path, found.trials[0].trial_id]
    kept = subprocess.run(command, capture_output=True, text=True)
    assert "(rank=0) this is rank 0" in kept.stdout


def takes_memory(config: dict[str, Any]) -> None:
    held = bytearray(60_000_000 if os.environ["RANK"] == "1" else 0)
    held[::4096] = b"x" * len(held[::4096])
    note(config, os.environ["RANK"])
    time.sleep(300)


def takes_time(config: dict[str, Any]) -> None:
    note(config, os.environ["RANK"])
    while True:
        pass


@pytest.mark.parametrize(
    ("work", "limits", "error"),
    [
        (takes_memory, {"memory": "90MB"}, "of memory, limit 90 MB"),
        (takes_time, {"cpu_s": 1.0}, "of CPU time, limit 1 s"),
    ],
)
def test_limits_hold_for_all_processes_together(
    tmp_path: Path, work: Any, limits: dict[str, Any], error: str
) -> None:
    found = run(work, tmp_path, trial_limits=limits)
    assert error in error_of(found)
    assert all_gone(tmp_path)


def hangs(config: dict[str, Any]) -> None:
    note(config, os.environ["RANK"])
    if os.environ["RANK"] == "1":
        if config["how"] == "forks" and os.fork() == 0:
            note(config, "fork")
            time.sleep(300)
        os.kill(os.getpid(), signal.SIGSTOP if config["how"] == "stops" else signal.SIGKILL)
    time.sleep(300)


@pytest.mark.parametrize(("how", "error"), [("stops", "rank 1"), ("forks", "rank 1 killed by signal 9")])
def test_a_rank_that_stops_or_dies_leaves_nothing(tmp_path: Path, how: str, error: str) -> None:
    found = run(hangs, tmp_path, config={"how": how, "timeout_s": 10.0})
    assert error in error_of(found)
    assert all_gone(tmp_path)


def test_eight_gangs_on_four_cpus(tmp_path: Path) -> None:
    found = run(sees, tmp_path, num_samples=8, config={"x": tune.uniform(0, 1)})
    results = [trial.last_result for trial in found.trials]
    assert len(results) == 8
    for one in results:
        others = [other for other in results if other["began"] < one["began"] < other["ended"]]
        assert len(others) <= 1


def test_two_gangs_never_wait_for_each_other(tmp_path: Path) -> None:
    engine = Local(cpus=4, max_processes=5)  # room for a head and its ranks, and for another head
    found = run(sees, tmp_path, engine=engine, num_samples=4, config={"x": tune.uniform(0, 1)})
    assert [trial.status for trial in found.trials] == ["TERMINATED"] * 4


def test_ranks_for_which_there_is_no_room_are_an_error(tmp_path: Path) -> None:
    found = run(sees, tmp_path, engine=Local(cpus=4, max_processes=2))
    assert "max_processes" in error_of(found)


def spies(config: dict[str, Any]) -> str:
    return Path("/proc/self/cmdline").read_text() + Path("/proc/self/environ").read_text() + str(os.environ)


class SpiedHost(TrialHost):
    """Keeps the plan."""

    plan: GangPlan

    def start(self, plan: GangPlan) -> None:
        self.plan = plan
        super().start(plan)


def spied(config: dict[str, Any]) -> None:
    host = SpiedHost(current())
    with Gang(host, 2) as gang:
        seen = "".join(gang.call(spies, config)) + spies(config)
    current().report({"is_seen": host.plan.token in seen or host.plan.address in seen})


@pytest.mark.parametrize("start_method", ["warm", "spawn"])
def test_nobody_reads_the_secret_of_a_gang(tmp_path: Path, start_method: Any) -> None:
    found = run(spies, tmp_path, trainable=spied, engine=Local(cpus=4, start_method=start_method))
    assert found.trials[0].last_result["is_seen"] is False


def pretends(config: dict[str, Any]) -> None:
    """Send from rank 1 what only a head may send."""
    from overtone.worker.message_codec import message_frame

    note(config, os.environ["RANK"])
    if os.environ["RANK"] == "1":
        said = message_frame(("reported", config["trial_id"], 0, 1, "{}", None))
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2:
                try:
                    os.write(int(name), said)
                except OSError:
                    pass
    time.sleep(300)


def led(config: dict[str, Any]) -> None:
    head({**config, "trial_id": current().get_trial_id()})


def test_a_rank_cannot_report_for_the_head(tmp_path: Path) -> None:
    found = run(pretends, tmp_path, trainable=led)
    assert found.trials[0].status == "ERROR"
    assert found.trials[0].last_result.get("training_iteration") is None
    assert all_gone(tmp_path)


def returns(config: dict[str, Any]) -> int:
    return int(os.environ["RANK"])


def test_one_rank_runs_on_the_inline_engine(tmp_path: Path) -> None:
    before = dict(os.environ)
    found = run(returns, tmp_path, [{}, {"CPU": 1}], "inline")
    assert json.loads(found.trials[0].last_result["found"]) == [0]
    assert {name: os.environ.get(name) for name in ("RANK", "WORLD_SIZE")} == {
        name: before.get(name) for name in ("RANK", "WORLD_SIZE")
    }
    assert "num_workers=1" in error_of(run(returns, tmp_path, TWO, "inline"))


def fails(config: dict[str, Any]) -> None:
    raise ValueError("as it should")


def test_the_rank_of_the_inline_engine_may_raise(tmp_path: Path) -> None:
    assert "as it should" in error_of(run(fails, tmp_path, [{}, {"CPU": 1}], "inline"))


def test_a_gang_is_its_bundles_on_the_simulated_engine(tmp_path: Path) -> None:
    assert "its bundles" in error_of(run(returns, tmp_path, engine="simulated"))
