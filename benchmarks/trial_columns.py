"""What the columns of an experiment cost: opening them, reading on, their file, and readers that use them.

    python benchmarks/trial_columns.py                     100,000 trials with ten hyperparameters
    python benchmarks/trial_columns.py --trials 10000
    python benchmarks/trial_columns.py --keep FOLDER       keeps the journal there, and uses it again

The journal is made by the simulator, with ASHA. Each figure is measured in a process of its own; times
are seconds of CPU without the start of Python, but for "process", which has it. "progress" is the time
until a terminal shows how far a cold reading is. Readers are measured with warm columns; with --by-index,
which takes minutes, frames are also measured without, by an index of the whole journal.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LONGEST = 50


def curve(config: dict[str, Any], t: int) -> Any:
    """A loss that falls to `config["lr"]`; each config takes its own time for an iteration."""
    if t > LONGEST:
        return None
    x = config["lr"]
    return {"loss": x + 1.0 / t, "accuracy": 1.0 - x / 2 - 0.5 / t}, 1.0 + 9.0 * (x * 7919.0 % 1.0)


def write_journal(folder: Path, trials: int) -> None:
    """Simulate a search over ten hyperparameters, one of them in a branch."""
    from overtone import tune
    from overtone.tune.schedulers import ASHAScheduler

    space = {
        "lr": tune.loguniform(1e-4, 1), "momentum": tune.uniform(0, 1), "decay": tune.loguniform(1e-6, 1e-2),
        "dropout": tune.uniform(0, 0.5), "width": tune.randint(16, 1024), "depth": tune.randint(1, 20),
        "batch": tune.choice([32, 64, 128, 256]), "activation": tune.choice(["relu", "gelu", "tanh"]),
        "optimizer": tune.choice([{"name": "sgd"}, {"name": "adam", "beta": tune.uniform(0.9, 0.999)}]),
    }  # fmt: skip
    tune.run(
        curve, name=folder.name, config=space, num_samples=trials, metric="loss", mode="min", seed=1,
        scheduler=ASHAScheduler(max_t=LONGEST, grace_period=1, reduction_factor=3),
        engine=tune.Simulated(500), storage_path=str(folder.parent), verbose=0,
    )  # fmt: skip


_OPEN = """
import json, sys, time
from overtone.reading.columns.opening import open_columns
began = time.process_time()
columns = open_columns(sys.argv[1])
print(json.dumps([time.process_time() - began, time.process_time(), len(columns), columns.n_records]))
"""

_READ_ON = """
import json, os, sys, time
from overtone.reading.columns.opening import ColumnReader
from pathlib import Path
journal, new = Path(sys.argv[1]), int(sys.argv[2])
lines = journal.read_bytes().splitlines(keepends=True)
journal.write_bytes(b"".join(lines[:-new]))
reader = ColumnReader(journal)
reader.read()
began = time.process_time()
for _ in range(100):
    reader.read()
nothing = (time.process_time() - began) / 100
with journal.open("ab") as file:
    file.writelines(lines[-new:])
began = time.process_time()
reader.read()
print(json.dumps([nothing, (time.process_time() - began - nothing) / new]))
"""


_FRAME = """
import json, sys, time
import pandas
pandas.DataFrame({"a": ["b", None]})
from overtone.tune import ExperimentAnalysis
from overtone.reading import index_on_demand
if "index" in sys.argv:
    index_on_demand.LONG_BYTES = 1 << 60
began = time.process_time()
analysis = ExperimentAnalysis(sys.argv[1])
frame = eval(sys.argv[2])
print(json.dumps([time.process_time() - began, *getattr(frame, "shape", ())]))
"""

_PLOT = """
import json, sys, time
from overtone.analysis.plots.optimization_history import optimization_history
from overtone.reading.columns.opening import open_columns
began = time.process_time()
optimization_history(open_columns(sys.argv[1]))
print(json.dumps(time.process_time() - began))
"""

FRAMES = ("analysis.results_df", "analysis.dataframe()", 'analysis.dataframe("loss", "min")')


def readers(folder: Path, cache: Path, by_index: bool) -> None:
    """Print what readers take that find the columns in the cache."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    for command, place in (("ls", folder.parent), ("show", folder), ("best", folder)):
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-m", "overtone", command, str(place)],
                env=environment, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        print(f"overtone {command}: process {times[0]:.2f} s, then {min(times[1:]):.2f} s", flush=True)
    for frame in FRAMES:
        warm = measured(_FRAME, cache, folder, frame)
        whole = measured(_FRAME, cache, folder, frame, "index")[0] if by_index else None
        index = f", by an index {whole:.2f} s" if whole is not None else ""
        print(f"{frame}: {warm[0]:.2f} s{index}; {warm[1]:,} rows of {warm[2]}", flush=True)
    for values in ("analysis.results", "analysis.trial_dataframes"):
        print(f"{values}: {measured(_FRAME, cache, folder, values)[0]:.2f} s", flush=True)
    print(f"numbers of plot_optimization_history: {measured(_PLOT, cache, folder):.2f} s")


def measured(code: str, cache: Path, *arguments: object) -> Any:
    """Run Python code in a process of its own, and return what it prints."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return json.loads(subprocess.check_output(command, env={**os.environ, "XDG_CACHE_HOME": str(cache)}))


def progress(folder: Path, cache: Path) -> tuple[float, int, int]:
    """Return seconds until a terminal shows the progress, and the status and leftovers after Ctrl-C then."""
    own, other = pty.openpty()
    began = time.monotonic()
    child = subprocess.Popen(
        [sys.executable, "-c", _OPEN, str(folder)], stderr=other, stdout=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip
    os.close(other)
    os.read(own, 1)
    seconds = time.monotonic() - began
    child.send_signal(signal.SIGINT)
    status = child.wait()
    os.close(own)
    return seconds, status, len(list(cache.rglob("*.*")))


def main() -> None:
    """Measure all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100_000, help="trials of the experiment (100000)")
    parser.add_argument("--keep", type=Path, help="a folder for the journal, which is used again")
    parser.add_argument("--by-index", action="store_true", help="measure frames by an index, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or Path(temporary)).absolute() / f"columns{arguments.trials}"
        if not folder.exists():
            write_journal(folder, arguments.trials)
        journal, cache = folder / "journal.jsonl", Path(temporary, "cache")
        print(f"journal: {journal.stat().st_size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")
        seconds, status, left = progress(folder, Path(temporary, "interrupted"))
        print(f"progress: after {seconds:.2f} s; Ctrl-C then: status {status}, {left} files left")
        cold = measured(_OPEN, cache, folder)
        print(f"cold: {cold[0]:.2f} s for {cold[2]:,} trials, {cold[3]:,} records")
        warm = [measured(_OPEN, cache, folder) for _ in range(3)]
        print(f"warm: {min(one[0] for one in warm):.3f} s, process {min(one[1] for one in warm):.3f} s")
        (file,) = cache.rglob("*.columns")
        per_trial = file.stat().st_size / cold[2]
        print(f"file: {per_trial:.0f} bytes a trial, {per_trial - 80:.0f} beyond ten values of 8 bytes")
        readers(folder, cache, arguments.by_index)
        copy = Path(temporary, "copy", "journal.jsonl")
        copy.parent.mkdir()
        copy.write_bytes(journal.read_bytes())
        nothing, record = measured(_READ_ON, Path(temporary, "other"), copy, min(20_000, cold[3] // 2))
        print(
            f"reading on: {record * 1e6:.1f} us a record, with the file's part; {nothing * 1e6:.0f} us a look"
        )
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"the largest process took {peak:.0f} MiB")


if __name__ == "__main__":
    main()
