"""Ranks of a head outside of trials, spread over a cluster."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from overtone.core.resources import Resources
from overtone.errors import GangError
from overtone.worker.gang.gang import Gang

GONE_WITHIN_S = 90.0
"""On a busy machine; `tests/chaos/gangs.py` measures that it is two seconds on another."""


def where(*given: Any) -> tuple[int, int, str, Any]:
    import ray

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return rank, size, ray.get_runtime_context().get_node_id(), given


def hang(path: str) -> None:
    Path(path, os.environ["RANK"]).write_text(str(os.getpid()))
    time.sleep(1000)


def host(**options: Any) -> Any:
    from overtone.engines.ray.ray_host import RayHost

    return RayHost(Resources.of([{}] + [{"cpu": 1}] * 3, "SPREAD"), **options)


def free_cpus() -> float:
    import ray

    return float(ray.available_resources().get("CPU", 0.0))


@pytest.fixture(scope="module")
def other(module_nodes: Any) -> None:
    """A node besides the head of the cluster, with a CPU each."""
    module_nodes.add(num_cpus=1)
    module_nodes.wait()


def test_ranks_are_spread_over_nodes_and_give_everything_back(other: None, until: Any) -> None:
    with Gang(host(), 2, timeout_s=300) as gang:
        found = gang.call(where, "given")
        assert [(rank, size, given) for rank, size, _, given in found] == [
            (0, 2, ("given",)),
            (1, 2, ("given",)),
        ]
        assert len({node for _, _, node, _ in found}) == 2
        assert gang.call_rank(1, lambda: os.environ["TORCHELASTIC_RESTART_COUNT"]) == "0"
        pids = gang.call(os.getpid)
        gang.restart()
        assert gang.call_rank(1, lambda: os.environ["TORCHELASTIC_RESTART_COUNT"]) == "1"
        assert not [pid for pid in pids if psutil.pid_exists(pid)]
    until(lambda: free_cpus() == 2)


def test_a_rank_that_is_killed_is_an_error_that_names_it(other: None, until: Any) -> None:
    with Gang(host(), 2, timeout_s=300) as gang:
        with pytest.raises(GangError, match="rank 1") as raised:
            gang.call(lambda: os.environ["RANK"] == "1" and os.kill(os.getpid(), signal.SIGKILL))
        assert raised.value.rank == 1
    until(lambda: free_cpus() == 2)


def test_too_little_room_is_an_error_that_says_what_is_free(other: None, until: Any) -> None:
    with pytest.raises(GangError, match="no room for 3 ranks of cpu 1 within 0.5 s; free now: .*cpu 1"):
        Gang(host(room_within_s=0.5), 3, timeout_s=300).start()
    until(lambda: free_cpus() == 2)


SCRIPT = """
import sys
import ray
sys.path.insert(0, sys.argv[1])
from test_ray_host import hang, host
from overtone.worker.gang.gang import Gang

ray.init(address="auto")
with Gang(host(), 2, timeout_s=300) as gang:
    gang.call(hang, sys.argv[2])
"""


@pytest.mark.full
def test_ranks_end_with_a_head_that_is_killed(cluster: Any, other: None, until: Any, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    folder = str(Path(__file__).parent)
    head = subprocess.Popen([sys.executable, str(path), folder, str(tmp_path)], env=environment)
    files = [tmp_path / "0", tmp_path / "1"]
    until(lambda: head.poll() is not None or all(file.exists() and file.read_text() for file in files))
    ranks = [psutil.Process(int(file.read_text())) for file in files]
    head.kill()
    head.wait()
    _, alive = psutil.wait_procs(ranks, timeout=GONE_WITHIN_S)
    assert not [rank for rank in alive if rank.status() != psutil.STATUS_ZOMBIE]
    until(lambda: free_cpus() == 2)
