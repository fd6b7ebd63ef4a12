"""The memory in use, as a machine and its control groups tell it."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.worker.limits import control_groups
from overtone.worker.limits.node_memory import NodeMemory, memory_reader

MEMINFO = "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nBuffers: 10 kB\nCached: 200 kB\n"
MACHINE = NodeMemory(600 * 1024, 1000 * 1024)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without limits, whose process is in the group a (version 2) and in b (version 1)."""
    own = tmp_path / "own"
    own.write_text("4:memory:/b\n0::/a\n")
    monkeypatch.setattr(control_groups.own_groups, "__defaults__", (control_groups.ROOT, own))
    (tmp_path / "meminfo").write_text(MEMINFO)
    return tmp_path


def read(machine: Path) -> NodeMemory | None:
    return memory_reader(machine, machine / "meminfo")()


def v2(folder: Path, total: object, used: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{total}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text("anon 7\ninactive_file 30\nactive_file 20\n")


def v1(folder: Path, total: int, used: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.limit_in_bytes").write_text(f"{total}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{used}\n")
    (folder / "memory.stat").write_text("inactive_file 1\ntotal_inactive_file 30\ntotal_active_file 20\n")


def test_without_control_groups_the_machine_counts(machine: Path) -> None:
    assert read(machine) == MACHINE


def test_an_old_kernel_does_not_say_what_is_available(machine: Path) -> None:
    (machine / "meminfo").write_text(MEMINFO.replace("MemAvailable: 400 kB\n", ""))
    assert read(machine) == NodeMemory(690 * 1024, 1000 * 1024)


def test_nobody_tells(machine: Path) -> None:
    (machine / "meminfo").unlink()
    assert read(machine) is None


def test_files_that_are_cached_do_not_count(machine: Path) -> None:
    v2(machine, 500_000, 1050)
    assert read(machine) == NodeMemory(1000, 500_000)
    v1(machine / "memory", 400_000, 1050)
    assert read(machine) == NodeMemory(1000, 400_000)
    v2(machine, 500_000, 20)
    v1(machine / "memory", 400_000, 20)
    assert read(machine) == NodeMemory(0, 400_000)


@pytest.mark.parametrize("total", ["max", 0, 2**60])
def test_a_group_without_a_limit_does_not_count(machine: Path, total: object) -> None:
    v2(machine, total, 100)
    v1(machine / "memory", 2**63 - 4096, 100)
    assert read(machine) == MACHINE


def test_the_tightest_group_around_this_process_counts(machine: Path) -> None:
    v2(machine, 500_000, 400_050)
    v2(machine / "a", 200_000, 150)
    assert read(machine) == NodeMemory(100, 200_000)
    v1(machine / "memory" / "b", 100_000, 250)
    assert read(machine) == NodeMemory(200, 100_000)


def test_use_and_limit_are_read_anew(machine: Path) -> None:
    v2(machine, 500_000, 1050)
    again = memory_reader(machine, machine / "meminfo")
    v2(machine, 600_000, 2050)
    assert again() == NodeMemory(2000, 600_000)
