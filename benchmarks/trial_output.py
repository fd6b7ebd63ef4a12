"""What kept output and samples of the machine cost the driver, in CPU time.

    python benchmarks/trial_output.py            lines printed by a trial, kept and not kept, in turns
    python benchmarks/trial_output.py samples    a sample of this machine

The trial prints its lines one by one, each with a write of its own, between results. A line costs the
driver's thread that shows it, and the thread that keeps it.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PAIRS, LINES = 5, 40_000
SAMPLES = 1_000


def prints(config: dict[str, Any]) -> None:
    """Print `LINES` lines."""
    from overtone import tune

    for i in range(LINES):
        print("epoch", i, "loss 0.123456 accuracy 0.98")
    tune.report({"loss": 1.0})


def cpu_s(keeps: bool) -> float:
    """Return the driver's CPU time for a run whose console goes to /dev/null."""
    from overtone import tune
    from overtone.engines import kept_output
    from overtone.engines.local import printed

    given: Any = printed
    given.kept_output = kept_output.kept_output if keeps else lambda job: None
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        tune.run(prints, metric="loss", mode="min", storage_path=folder, name="output", verbose=0)
        return time.process_time() - began


def lines() -> None:
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    cpu_s(True)
    both = [(cpu_s(False), cpu_s(True)) for _ in range(PAIRS)]
    os.dup2(out, 1)
    shown = statistics.median(one[0] for one in both) / LINES
    more = statistics.median(kept - shown for shown, kept in both) / LINES
    print(f"a line shown: {1e6 * shown:.2f} us of the driver; kept as well: {1e6 * more:+.2f} us")


def samples() -> None:
    from overtone.store.folder_mark import FolderMark
    from overtone.worker.machines import EVERY_S
    from overtone.worker.machines.ring import Ring
    from overtone.worker.machines.sample import MachineSampler

    with tempfile.TemporaryDirectory() as folder:
        sampler, ring = MachineSampler(Path(folder)), Ring(FolderMark(folder), "node")
        ring.put(sampler.sample())
        began = time.process_time()
        for _ in range(SAMPLES):
            ring.put(sampler.sample())
        each = (time.process_time() - began) / SAMPLES
        ring.close()
    print(f"a sample: {1e6 * each:.0f} us, every {EVERY_S:g} s: {100 * each / EVERY_S:.4f} % of a core")


if __name__ == "__main__":
    samples() if sys.argv[1:] == ["samples"] else lines()
