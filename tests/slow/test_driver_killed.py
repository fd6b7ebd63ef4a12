"""The driver is killed at random moments of many runs, and resumed: nothing is lost, doubled or stuck.

OVERTONE_KILLS says how often (20, of which CI does 8); 200 takes some ten minutes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "chaos"))
from suffering import Suffering, guarded

KILLS = int(os.environ.get("OVERTONE_KILLS", "20"))
SEED = int(os.environ.get("OVERTONE_SEED", "1"))
A_RUN = 4
"""Kills of one experiment, one after the other."""

RUNS_IN_CI = 2

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "run",
    [pytest.param(i, marks=[pytest.mark.full] * (i >= RUNS_IN_CI)) for i in range((KILLS + A_RUN - 1) // A_RUN)],
)
def test_killed_and_resumed(tmp_path, run) -> None:
    random = Random(SEED * 1_000 + run)
    suffering = Suffering(tmp_path / f"run{run}", random, tensorboard=True)

    def ordeal() -> None:
        n_results = int(str(suffering.options["length"])) * int(str(suffering.options["trials"]))
        at = sorted(random.sample(range(n_results - 2), A_RUN))
        for n in at:
            suffering.start()
            suffering.wait_for_results(n)
            if random.random() < 0.2:
                suffering.wait_a_moment(1.0)  # perhaps before the first, or while it ends
            else:
                suffering.wait_a_moment(0.05)
            if not suffering.is_running:
                break
            suffering.kill()
        suffering.finish()

    guarded(suffering, ordeal)
