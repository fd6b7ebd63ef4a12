from __future__ import annotations

import os
import sys

import pytest

from overtone.worker.limits import process_usage


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_both_ways_to_measure_agree() -> None:
    ours, theirs = process_usage.used(os.getpid()), process_usage._used_by_psutil(os.getpid())
    assert theirs.cpu_s == pytest.approx(ours.cpu_s, abs=1.0)
    assert theirs.resident == pytest.approx(ours.resident, rel=0.2)
    assert 0 < process_usage.own_memory(os.getpid()) <= 1.2 * ours.resident


def test_a_process_that_is_gone_uses_nothing() -> None:
    gone = 2**22 + 1
    assert process_usage.used(gone) == process_usage._used_by_psutil(gone) == (0.0, 0)
    assert process_usage.own_memory(gone) == 0
    assert process_usage.Families().of(gone) == process_usage._family_by_psutil(gone) == {gone}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_family_is_found_with_and_without_lists_of_children(monkeypatch: pytest.MonkeyPatch) -> None:
    from overtone.worker import process_tree

    parents = [(11, 10), (12, 11), (13, 12), (20, 1)]
    monkeypatch.setattr(process_tree, "parents", lambda: iter(parents))
    families = process_usage.Families()
    families._lists_children = False
    assert families.of(10) == {10, 11, 12, 13}
    assert families.of(20) == {20}
    families = process_usage.Families()
    families._lists_children = True
    monkeypatch.setattr(families, "_children", lambda pid: [one for one, parent in parents if parent == pid])
    assert families.of(11) == {11, 12, 13}
