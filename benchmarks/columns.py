"""What progress.csv costs if a trial reports a new metric with each result.

    python benchmarks/columns.py                          2,000 results
    python benchmarks/columns.py -n 400 --pace 1          400 results, one a second (by a simulated clock)

Each shape is written by a process of its own; its CPU time is compared with that of as many results
with as many columns from the first row on ("fixed").
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SHAPES = {
    "fixed": "every result has all columns",
    "all so far": "each result adds a column, and has all columns before it",
    "one each": "each result has one column, which is new",
}


def metrics(shape: str, n: int) -> Iterator[dict[str, float]]:
    """The results of one trial."""
    for i in range(n):
        names = {"fixed": range(n), "all so far": range(i + 1), "one each": (i,)}[shape]
        yield {f"metric_{name}": 0.123456789 * i for name in names}


def measure(shape: str, n: int, pace_s: float) -> dict[str, float]:
    """CPU seconds, bytes written and bytes of the file."""
    from overtone.core.table import TrialTable
    from overtone.observers.files.constant_text import ConstantTexts
    from overtone.observers.files.csv_rows import CsvRows
    from overtone.observers.files.trial_files import TrialFiles
    from overtone.testing.scripted_records import Story

    now = 0.0
    with tempfile.TemporaryDirectory() as folder:
        story = Story()
        trial = story.add({"lr": 0.1})
        story.start(trial)
        files = TrialFiles(folder)
        table, rows = TrialTable(), CsvRows(files, ConstantTexts(), clock=lambda: now)
        story.report(trial)
        for record in story.records:
            table.apply(record)
        row = table.rows[trial]
        rows.add(row, "", row.metrics)
        spent = 0.0
        for i, one in enumerate(metrics(shape, n), 1):
            now += pace_s
            began = time.process_time()
            rows.add(table.show(len(story.records) + i, 0.0, trial, i, one), "", one)
            rows.widen_due()
            files.flush()
            if pace_s:  # a slow trial's batches are written one by one
                files.close()
            spent += time.process_time() - began
        began = time.process_time()
        rows.widen_all()
        files.close()
        spent += time.process_time() - began
        counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        written = int(counts["wchar"])
        size = os.path.getsize(Path(folder, trial, "progress.csv"))
    return {"cpu_s": spent, "written": written, "size": size}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=2000, help="results (2000)")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between results (0)")
    parser.add_argument("--shape", choices=SHAPES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.shape:
        print(json.dumps(measure(arguments.shape, arguments.n, arguments.pace)))
        return
    fixed = 0.0
    for shape, meaning in SHAPES.items():
        command = [sys.executable, __file__, "-n", str(arguments.n), "--pace", str(arguments.pace)]
        found = json.loads(subprocess.check_output([*command, "--shape", shape]))
        fixed = fixed or found["cpu_s"]
        print(
            f"{shape:12} {found['cpu_s']:7.2f} s CPU {found['cpu_s'] / fixed:6.2f} x fixed   "
            f"{found['size'] / 1e6:7.1f} MB, {found['written'] / found['size']:5.1f} times written   "
            f"{meaning}"
        )


if __name__ == "__main__":
    main()
