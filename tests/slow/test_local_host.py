"""Ranks of a head outside of trials, on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from overtone.core.resources import Resources
from overtone.engines.local import local_host
from overtone.engines.local.local_host import LocalHost
from overtone.errors import GangError, ResourceError
from overtone.testing.engine_disasters import is_gone
from overtone.worker.gang.gang import Gang

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")

TWO = Resources.of([{}, {"cpu": 0.5, "gpu": 1}, {"cpu": 0.5, "gpu": 1}])


@pytest.fixture(autouse=True)
def no_processes_left() -> Iterator[None]:
    yield
    if local_host._newest is not None:
        local_host._newest.close()


def facts() -> tuple[int, int, str, str]:
    return os.getpid(), os.getppid(), os.environ["RANK"], os.environ["CUDA_VISIBLE_DEVICES"]


def test_a_second_gang_is_forked_from_the_same_server(capfd: pytest.CaptureFixture[str]) -> None:
    pids, servers = set(), set()
    for _ in range(2):
        with Gang(LocalHost(TWO, gpus=2), 2, timeout_s=60) as gang:
            found = gang.call(facts)
            gang.restart()
            found += gang.call(facts)
            gang.call(print, "hello")
        assert [(rank, gpu) for _, _, rank, gpu in found] == [("0", "0"), ("1", "1")] * 2
        pids |= {pid for pid, _, _, _ in found}
        servers |= {server for _, server, _, _ in found}
    assert (len(pids), len(servers)) == (8, 1)
    assert all(is_gone(pid) for pid in pids)
    assert "(training rank=1 pid=" in capfd.readouterr().out


def test_errors_come_before_any_process() -> None:
    with pytest.raises(ResourceError, match="use_gpu=False"):
        Gang(LocalHost(TWO, gpus=1), 2).start()
    with pytest.raises(ResourceError, match="bundle"):
        Gang(LocalHost(TWO, gpus=2), 4).start()
    with Gang(LocalHost(TWO, gpus=2), 2), pytest.raises(ResourceError, match="other trainers"):
        Gang(LocalHost(TWO, gpus=3), 2).start()


def test_two_gangs_at_once_have_gpus_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    with Gang(LocalHost(TWO, gpus=4), 2, timeout_s=60) as first:
        monkeypatch.setenv("NEW_SINCE_THE_FIRST", "1")
        with Gang(LocalHost(TWO, gpus=4), 2, timeout_s=60) as second:
            found = first.call(facts) + second.call(facts) + first.call(facts)
            assert second.call(os.getenv, "NEW_SINCE_THE_FIRST") == ["1", "1"]
        assert [pid for pid, _, _, _ in first.call(facts)] == [pid for pid, _, _, _ in found[:2]]
    one, other = [("0", "0"), ("1", "1")], [("0", "2"), ("1", "3")]
    assert [(rank, gpu) for _, _, rank, gpu in found] == [*one, *other, *one]
    assert all(is_gone(pid) for pid, _, _, _ in found)


def test_ranks_of_a_dropped_gang_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    gang = Gang(LocalHost(TWO, gpus=2), 2)
    gang.start()
    monkeypatch.setenv("NEW_SINCE_THE_FIRST", "1")
    with Gang(LocalHost(Resources.of([{}, {"cpu": 0.5}])), 1):
        pass
    pids = [pid for pid, _, _, _ in gang.call(facts)]
    hub = gang._hub
    assert hub is not None
    del gang
    with Gang(LocalHost(TWO, gpus=2), 2):
        assert all(is_gone(pid) for pid in pids)
    hub.close()


def test_a_rank_that_dies_is_named_and_another_gang_may_follow() -> None:
    with pytest.raises(GangError, match="rank 1 .*SIGKILL"), Gang(LocalHost(TWO, gpus=2), 2) as gang:
        gang.call_rank(1, os.kill, 0, signal.SIGKILL)
    with Gang(LocalHost(TWO, gpus=2), 2) as gang:
        assert len(gang.call(facts)) == 2


HEAD = """
import os, sys, time
from pathlib import Path
from overtone.core.resources import Resources
from overtone.engines.local.local_host import LocalHost
from overtone.worker.gang.gang import Gang

def work(at):
    Path(at, f"pid {os.getpid()}").touch()
    time.sleep(600)

if __name__ == "__main__":
    with Gang(LocalHost(Resources.of([{}, {"cpu": 0.5}, {"cpu": 0.5}])), 2) as gang:
        gang.call(work, sys.argv[1])
"""


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_ranks_end_with_their_head(tmp_path: Path, signum: signal.Signals) -> None:
    script = tmp_path / "head.py"
    script.write_text(HEAD)
    head = subprocess.Popen([sys.executable, str(script), str(tmp_path)], stderr=subprocess.DEVNULL)
    give_up_at = time.monotonic() + 60
    while len(pids := [int(one.name.split()[1]) for one in tmp_path.glob("pid *")]) < 2:
        assert time.monotonic() < give_up_at
        assert head.poll() is None
        time.sleep(0.01)
    head.send_signal(signum)
    head.wait(60)
    assert all(is_gone(pid) for pid in pids)
