from __future__ import annotations

import os
import sys

import pytest

from overtone.worker import lineage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_this_process_is_a_child_of_its_parent() -> None:
    assert (os.getpid(), os.getppid()) in set(lineage.parents())


def test_both_ways_to_find_children_agree() -> None:
    by_stat = {child for child, parent in lineage.parents() if parent == os.getpid()}
    assert lineage.children(os.getpid()) == by_stat
