"""Imports of large studies: CPU time and peak memory of `overtone import`.

    python benchmarks/import_results.py [TRIALS] [STEPS]

A study of 5 parameters is written by the code of `overtone export --format optuna` as a SQLite file, and as a
JournalFile. Each import runs in a process of its own.
"""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overtone.importers.optuna.distributions import Distribution
from overtone.importers.optuna.study_writer import StudyWriter

DISTRIBUTIONS = {
    "lr": Distribution.of("float", {"low": 1e-5, "high": 1.0, "log": True, "step": None}),
    "dropout": Distribution.of("float", {"low": 0.0, "high": 0.5, "log": False, "step": None}),
    "layers": Distribution.of("int", {"low": 1, "high": 8, "log": False, "step": 1}),
    "width": Distribution.of("int", {"low": 16, "high": 1024, "log": True, "step": 1}),
    "optimizer": Distribution.of("categorical", {"choices": ["adam", "sgd", "lion"]}),
}
N_WORKERS = 8


def moment(seconds: float) -> str:
    """Return a time of a worker as Optuna stores it."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1.7e9 + seconds)) + f".{int(seconds % 1 * 1e6):06d}"


def values(rng: random.Random) -> dict[str, tuple[float, str]]:
    """Return the parameters of a trial."""
    found = {}
    for name, one in DISTRIBUTIONS.items():
        if one.kind == "categorical":
            value: float = rng.randrange(3)
        else:
            value = rng.uniform(one.data["low"], one.data["high"])
        found[name] = (float(int(value)) if one.kind != "float" else value, one.text())
    return found


def make_sqlite(path: Path, n: int, n_steps: int) -> None:
    """Write a study with `n` trials of `n_steps` intermediate values."""
    rng = random.Random(0)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("BEGIN")
    writer = StudyWriter(database)
    study = writer.add_study("large", ["MINIMIZE"])
    for number in range(n):
        begin = number * 1.5
        state = "PRUNED" if number % 5 == 4 else "COMPLETE"
        trial = writer.add_trial(None, study, number, state, moment(begin), moment(begin + 1.5 * N_WORKERS))
        writer.set_params(trial, values(rng))
        writer.set_steps(trial, {step: rng.random() for step in range(n_steps)})
        writer.set_values(trial, [rng.random()])
        writer.set_attributes("user", trial, {"accuracy": rng.random()})
    database.execute("COMMIT")
    database.close()


def make_journal_file(path: Path, n: int, n_steps: int) -> None:
    """Write the same as a log of operations."""
    rng = random.Random(0)
    with open(path, "w") as file:

        def put(code: int, **fields: object) -> None:
            file.write(
                json.dumps({"op_code": code, "worker_id": "w", **fields}, separators=(",", ":")) + "\n"
            )

        put(0, study_name="large", directions=[1])
        for number in range(n):
            begin = number * 1.5
            put(4, study_id=0, datetime_start=moment(begin) + "+00:00")
            for name, (value, text) in values(rng).items():
                put(5, trial_id=number, param_name=name, param_value_internal=value, distribution=text)
            for step in range(n_steps):
                put(7, trial_id=number, step=step, intermediate_value=rng.random())
            put(8, trial_id=number, user_attr={"accuracy": rng.random()})
            state = 2 if number % 5 == 4 else 1
            put(
                6,
                trial_id=number,
                state=state,
                values=[rng.random()],
                datetime_complete=moment(begin + 12) + "+00:00",
            )


def measure(source: Path, results: Path) -> None:
    """Import in a process of its own, and print its CPU time and peak memory."""
    code = (
        "import resource, sys, time\n"
        "from overtone.cli import main\n"
        f"source, results, name = {str(source)!r}, {str(results)!r}, {source.suffix[1:]!r}\n"
        "code = main(['import', source, '--dir', results, '--name', name, '--json'])\n"
        "print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wall_s = time.perf_counter() - began
    cpu_s, memory = (float(one) for one in done.stderr.split()[-2:])
    facts = json.loads(done.stdout)
    size = (results / source.suffix[1:] / "journal.jsonl").stat().st_size
    print(
        f"{source.name:12} {source.stat().st_size / 1e6:6.0f} MB  {facts['results']:,} results: "
        f"{cpu_s:5.1f} s of CPU, {wall_s:5.1f} s, {memory / 1024:4.0f} MiB; journal {size / 1e6:.0f} MB"
    )


def main() -> None:
    """Measure both kinds of files."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    n_steps = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_sqlite(root / "study.db", n, n_steps)
        make_journal_file(root / "study.log", n, n_steps)
        print(f"{n:,} trials, {len(DISTRIBUTIONS)} parameters, {n_steps} intermediate values:")
        for name in ("study.db", "study.log"):
            measure(root / name, root / "results")


if __name__ == "__main__":
    main()
