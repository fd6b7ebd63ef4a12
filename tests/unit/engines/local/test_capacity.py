from __future__ import annotations

from pathlib import Path

import pytest

from overtone.engines.local import capacity
from overtone.engines.local.capacity import Capacity
from overtone.errors import ResourceError
from overtone.worker.limits import control_groups


def test_declared_amounts() -> None:
    declared = Capacity(4, 2, "2GB", {"license": 3})
    assert declared.amounts() == {"cpu": 4.0, "gpu": 2.0, "memory": 2e9, "license": 3.0}
    assert str(declared) == "4 CPUs, 2 GPUs, 1.9 GiB memory, 3 license"
    assert str(Capacity(1, 1, 2**30, None)) == "1 CPU, 1 GPU, 1.0 GiB memory"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cpus": 0}, "cpus=0: trials need"),
        ({"gpus": 0.5}, "gpus=0.5: say how many whole GPUs"),
        ({"gpus": -1}, "gpus=-1"),
        ({"memory": "lots"}, 'a size must look like "2GB"'),
        ({"resources": {"license": -1}}, "license=-1"),
    ],
)
def test_amounts_that_are_none(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ResourceError, match=message):
        Capacity(**{"cpus": 1, "gpus": 0, "memory": 1, "resources": None, **arguments})  # type: ignore[arg-type]


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of control groups, this process being in a/b (version 2) and in c (version 1)."""
    own = tmp_path / "own"
    own.write_text("5:cpu,cpuacct:/c\n4:memory:/c\n0::/a/b\n")
    monkeypatch.setattr(control_groups.own_groups, "__defaults__", (control_groups.ROOT, own))
    monkeypatch.setattr(capacity.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    for folder in ("a/b", "cpu/c", "memory/c"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_without_a_quota_the_affinity_counts(groups: Path) -> None:
    (groups / "a/b/cpu.max").write_text("max 100000\n")
    (groups / "cpu/c/cpu.cfs_quota_us").write_text("-1\n")
    (groups / "cpu/c/cpu.cfs_period_us").write_text("100000\n")
    assert capacity.count_cpus(groups) == 8


@pytest.mark.parametrize(("quota", "cpus"), [("400000 100000", 4), ("50000 100000", 1), ("150000 100000", 1)])
def test_a_quota_above_this_group_counts(groups: Path, quota: str, cpus: int) -> None:
    (groups / "a/b/cpu.max").write_text("max 100000\n")
    (groups / "a/cpu.max").write_text(quota)
    assert capacity.count_cpus(groups) == cpus


def test_the_older_quota_counts(groups: Path) -> None:
    (groups / "cpu/c/cpu.cfs_quota_us").write_text("200000\n")
    (groups / "cpu/c/cpu.cfs_period_us").write_text("100000\n")
    assert capacity.count_cpus(groups) == 2


def test_the_lowest_memory_limit_counts(groups: Path) -> None:
    (groups / "a/b/memory.max").write_text("max\n")
    assert capacity.memory_bytes(groups) > 2**20
    (groups / "memory/c/memory.limit_in_bytes").write_text(f"{2**20}\n")
    assert capacity.memory_bytes(groups) == 2**20
    (groups / "a/memory.max").write_text("4096\n")
    assert capacity.memory_bytes(groups) == 4096
