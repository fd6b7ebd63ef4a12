from __future__ import annotations

import os
import sys

import pytest

from overtone.worker import usage


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_both_ways_to_measure_agree() -> None:
    ours, theirs = usage.used(os.getpid()), usage._used_by_psutil(os.getpid())
    assert theirs.cpu_s == pytest.approx(ours.cpu_s, abs=1.0)
    assert theirs.resident == pytest.approx(ours.resident, rel=0.2)
    assert 0 < usage.own_memory(os.getpid()) <= 1.2 * ours.resident


def test_a_process_that_is_gone_uses_nothing() -> None:
    gone = 2**22 + 1
    assert usage.used(gone) == usage._used_by_psutil(gone) == (0.0, 0)
    assert usage.own_memory(gone) == 0
    assert usage.Families().of(gone) == usage._family_by_psutil(gone) == {gone}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_family_is_found_with_and_without_lists_of_children(monkeypatch: pytest.MonkeyPatch) -> None:
    from overtone.worker import lineage

    parents = [(11, 10), (12, 11), (13, 12), (20, 1)]
    monkeypatch.setattr(lineage, "parents", lambda: iter(parents))
    families = usage.Families()
    families._lists_children = False
    assert families.of(10) == {10, 11, 12, 13}
    assert families.of(20) == {20}
    families = usage.Families()
    families._lists_children = True
    monkeypatch.setattr(families, "_children", lambda pid: [one for one, parent in parents if parent == pid])
    assert families.of(11) == {11, 12, 13}
