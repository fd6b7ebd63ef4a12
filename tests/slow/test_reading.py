"""Time and memory of reading a journal grow as its size does, whatever it holds.

Bounded: 2 and 16 MB of each shape, with room for a machine that others use. The whole range is in
`benchmarks/reading.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "reading.py"
SHAPES = ("torn", "nested_metrics", "line")
MORE_SHAPES = ("torn_beginnings", "hole_lines", "small_lines", "pieces")
SMALL, LARGE = 2 << 20, 16 << 20

pytestmark = pytest.mark.slow


def measured(shape: str, size: int) -> dict[str, float]:
    command = [sys.executable, str(BENCHMARK), "--one", shape, str(size)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


@pytest.mark.parametrize("shape", [*SHAPES, *(pytest.param(one, marks=pytest.mark.full) for one in MORE_SHAPES)])
def test_eight_times_the_size_takes_eight_times_the_time(shape) -> None:
    small, large = measured(shape, SMALL), measured(shape, LARGE)
    assert large["s"] < 24 * small["s"] + 0.2, "quadratic would be 64 times"
    assert large["s"] < 5
    longest = {"hole_lines": 1 << 18, "small_lines": 1 << 18, "nested_metrics": 4 * LARGE}.get(shape, LARGE)
    assert large["mb"] < 4 * longest / (1 << 20) + 10
