"""What readers of long journals cost: a trial's data frame, and `overtone ls`.

    python benchmarks/readers_at_scale.py                    one trial, 500,000 results
    python benchmarks/readers_at_scale.py --trials 1000      as many results of 1,000 trials

Each reader is a process of its own. Memory is the most that it held beyond its imports. The first look of
`ls` is measured with the overviews that drivers keep, and without: after a kill before the first of them,
or with the journals of an older version.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def write_journal(folder: Path, n: int, trials: int) -> int:
    """An experiment that ended; returns the size of its journal."""
    from dataclasses import replace

    from overtone.core.messages import Record, Reported
    from overtone.journal.header import new_header
    from overtone.journal.writer import JournalWriter
    from overtone.testing.scripted_records import Story

    story = Story()
    folder.mkdir(parents=True)
    header = new_header(seed=1, parts={"name": "train", "metric": ["loss"], "mode": ["min"]}, command=[])
    journal = folder / "journal.jsonl"
    writer = JournalWriter(journal, header)
    names = [story.add({"lr": 0.1, "net": {"width": i}}) for i in range(trials)]
    for name in names:
        story.start(name, pid=1)
    writer.append([replace(one, n=one.n + 1) for one in story.records])
    last, batch = len(story.records) + 1, []
    for i in range(n):
        t, second = i // trials + 1, 1_700_000_000 + i // 50
        metrics = {
            "loss": 1.0 / (i + 1), "accuracy": i / n, "training_iteration": t, "time_this_iter_s": 0.0203,
            "time_total_s": 0.02 * t, "timestamp": second, "iterations_since_restore": t,
            "time_since_restore": 0.02 * t,
            "date": time.strftime("%Y-%m-%d_%H-%M-%S", time.gmtime(second)), "done": False,
        }  # fmt: skip
        batch.append(Record(last + i + 1, Reported(0.02 * i, names[i % trials], 0, t, metrics)))
        if len(batch) == 1000 or i == n - 1:
            writer.append(batch)
            batch = []
    first = len(story.records)
    for name in names:
        story.end(name)
    writer.append([replace(one, n=one.n + 1 + n) for one in story.records[first:]])
    writer.close()
    return journal.stat().st_size


_FRAME = """
import resource, sys, time
import pandas, numpy
from overtone.tune import ExperimentAnalysis
pandas.DataFrame({"a": ["b", None]})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, spent = time.perf_counter(), time.process_time()
analysis = ExperimentAnalysis(sys.argv[1])
frame = analysis.trial_dataframes[analysis.trials[0].trial_id]
seconds, spent = time.perf_counter() - began, time.process_time() - spent
print(seconds, spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, *frame.shape)
"""


def frame_cost(folder: Path) -> str:
    """Seconds and memory of a trial's frame."""
    found = subprocess.run(
        [sys.executable, "-c", _FRAME, str(folder)], check=True, capture_output=True, text=True
    ).stdout.split()
    seconds, cpu, memory = float(found[0]), float(found[1]), int(found[2]) / 1024
    return f"{seconds:.2f} s, {cpu:.2f} s CPU, {memory:.0f} MiB: {found[3]} rows of {found[4]} columns"


def ls_cost(folder: Path, cache: Path) -> str:
    """Seconds and memory of `overtone ls`, with the process's start."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "overtone", "ls", "--json", str(folder)]
    listed = json.loads(subprocess.check_output(command, env=environment))
    seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = used.ru_utime - before.ru_utime, used.ru_stime - before.ru_stime
    count = sum(one["results"] for one in listed)
    cpu = f"{user:.2f} s CPU and {system:.2f} s of the system's"
    return f"{seconds:.2f} s, {cpu}, {used.ru_maxrss / 1024:.0f} MiB: {count} results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=500_000, help="results of each experiment (500000)")
    parser.add_argument("--trials", type=int, default=1, help="trials of each experiment (1)")
    parser.add_argument("--keep", type=Path, help="a folder for the journals, which are used again")
    arguments = parser.parse_args()
    from overtone.reading.overview_file import NAME, OverviewFile

    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary, "results")
        for name in ("one", "two"):
            if not (folder / name).exists():
                size = write_journal(folder / name, arguments.n, arguments.trials)
                print(f"{name}: {size / 1e6:.0f} MB")
        cache = Path(temporary, "cache")
        for name in ("one", "two"):
            (folder / name / NAME).unlink(missing_ok=True)
        print("ls of two, no overviews:", ls_cost(folder, Path(temporary, "cache without")))
        spent = time.process_time()
        for name in ("one", "two"):
            OverviewFile(folder / name / "journal.jsonl").write()
        print(f"two overviews take:      {time.process_time() - spent:.2f} s CPU")
        print("ls of two, first time:  ", ls_cost(folder, cache))
        print("ls of two, second time: ", ls_cost(folder, cache))
        print("frame of a trial:       ", frame_cost(folder / "one"))


if __name__ == "__main__":
    main()
