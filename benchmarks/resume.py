"""How long it takes to resume an experiment whose driver was killed, and what its journal costs.

    python benchmarks/resume.py                       10,000 trials with 100,000 results; durability
    python benchmarks/resume.py --trials 100000       ... with 1,000,000 results

The experiment is a real run, but for its engine, which reports at once what trials would; it kills
its driver with SIGKILL while sixteen trials run. Then a new process resumes it by
`tune.run(..., resume=True)`, on the local engine; what counts is the time from that call to the
moment at which the driver goes on, with everything known and all files in order: with the driver's last
snapshot, and without one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overtone.core import messages as m
from overtone.core.protocols import Engine
from overtone.journal.text import dumps

SLOTS = 16
RESULTS_A_TRIAL = 10
SECONDS_A_RESULT = 0.5
BATCH = 64
MOST_RESULTS_PER_S = 2_000
FIELDS = {"time_this_iter_s": 0.5, "timesteps_total": None, "date": "2026-01-01_12-00-00", "done": False}


def train(config: dict[str, float]) -> None:
    """What the trials would be: never run to its end here."""
    from overtone import tune

    tune.report({"loss": config["x"]})


def experiment(root: Path, trials: int, name: str, **more: Any) -> Any:
    """ASHA over random search, which learns from every result that is replayed."""
    from overtone.experiment import Experiment
    from overtone.schedulers.asha import ASHAScheduler
    from overtone.space import dsl

    scheduler = ASHAScheduler(max_t=100, grace_period=RESULTS_A_TRIAL, reduction_factor=4)
    return Experiment(
        train, {"x": dsl.uniform(0, 1), "lr": dsl.loguniform(1e-5, 1e-1)}, name=name, storage=root,
        num_samples=trials, metric="loss", mode="min", scheduler=scheduler, seed=1, verbose=0, **more,
    )  # fmt: skip


class Instant(Engine):
    """Reports at once what is due, and kills its driver when that has heard of `most` results.

    No more is due than `MOST_RESULTS_PER_S` allows: twice what fresh processes were ever measured to do.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._clock, self._n_results = 0.0, 0
        self._began = time.monotonic()
        self._due: deque[Any] = deque([m.CapacityChanged(0.0, {"local": {"cpu": float(SLOTS)}})])

    def open(self, job: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def now(self) -> float:
        return self._clock

    def submit(self, commands: Sequence[Any]) -> None:
        due = self._due
        for command in commands:
            if not isinstance(command, m.Start):
                continue
            trial_id, attempt = command.trial_id, command.attempt
            due.append(m.Started(self._clock, trial_id, attempt, "local", 1, "host"))
            for t in range(1, RESULTS_A_TRIAL + 1):
                self._clock += SECONDS_A_RESULT / SLOTS
                metrics = {
                    "loss": command.config["x"] + 1 / t,
                    "training_iteration": t,
                    "time_total_s": t * 0.5,
                    "timestamp": 1_790_000_000,
                    "iterations_since_restore": t,
                    "time_since_restore": t * 0.5,
                    **FIELDS,
                }
                due.append(m.Reported(self._clock, trial_id, attempt, t, metrics, None, dumps(metrics)))
            due.append(m.Ended(self._clock, trial_id, attempt, "returned"))

    def poll(self, timeout_s: float | None) -> list[Any]:
        if self._n_results >= self._most:
            os.kill(os.getpid(), signal.SIGKILL)
        early_s = self._n_results / MOST_RESULTS_PER_S - (time.monotonic() - self._began)
        if early_s > 0:
            time.sleep(early_s)
        found = [self._due.popleft() for _ in range(min(len(self._due), BATCH))]
        self._n_results += sum(type(one) is m.Reported for one in found)
        return found


DOOMED = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import resume
from overtone.run import execute

engine = resume.Instant({most})
execute(resume.experiment(Path({root!r}), {trials}, "resumed", engine=engine, tensorboard=False))
"""


def killed(root: Path, trials: int) -> tuple[Path, int]:
    """The folder of an experiment whose driver was killed, and how many results it has."""
    most = trials * RESULTS_A_TRIAL - SLOTS * RESULTS_A_TRIAL // 2
    code = DOOMED.format(here=str(Path(__file__).parent), root=str(root), trials=trials, most=most)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode != -signal.SIGKILL:
        sys.exit(f"the driver ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return root / "resumed", most


RESUME = """
import sys, time
from pathlib import Path
sys.path.insert(0, {here!r})
import resume
from overtone.core.messages import Started
from overtone.core.protocols import Observer
from overtone.run import execute

class First(Observer):
    def on_record(self, record):
        if type(record.event).__name__ == "Resumed":
            print(time.perf_counter() - began, flush=True)
            import os
            os._exit(0)

asked = resume.experiment(Path({root!r}), {trials}, "resumed", resume=True, tensorboard=False,
                          callbacks=[First()])
began = time.perf_counter()
execute(asked)
"""


def resumed_s(root: Path, trials: int, with_snapshot: bool) -> float:
    """The seconds that a resume takes; the folder is the same afterwards."""
    folder = root / "resumed"
    journal, snapshot, aside = folder / "journal.jsonl", folder / "snapshot.json", folder / "aside.json"
    before = journal.stat().st_size
    if not with_snapshot and snapshot.exists():
        snapshot.rename(aside)
    code = RESUME.format(here=str(Path(__file__).parent), root=str(root), trials=trials)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    os.truncate(journal, before)
    if aside.exists():
        aside.rename(snapshot)
    return float(done.stdout.split()[-1])


DURABILITY = """
import json, sys, time
from overtone.core.protocols import Observer
from overtone.experiment import CheckpointPolicy, Experiment
from overtone.journal.writer import JournalWriter
from overtone.run.execute import Run

def train(config):
    from overtone import tune
    for i in range({results}):
        tune.report({{"loss": 1.0 / (i + 1), "accuracy": 0.5}})

if __name__ == "__main__":
    if sys.argv[1] == "without":
        JournalWriter.append = lambda self, records: None
    run = Run(Experiment(train, name=sys.argv[1], storage={root!r}, num_samples=4, verbose=0, seed=1,
                         checkpoints=CheckpointPolicy(every=0), tensorboard=False))
    began = time.perf_counter()
    run.carry_out()
    print({results} * 4 / (time.perf_counter() - began))
"""


def results_per_s(root: Path, how: str, results: int = 5_000) -> float:
    """How many results a run takes in a second, "with" its journal or "without"."""
    script = root / "durability.py"
    script.write_text(DURABILITY.format(results=results, root=str(root)))
    done = subprocess.run([sys.executable, str(script), how], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    shutil.rmtree(root / how, ignore_errors=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a resume takes, and what a journal costs.")
    parser.add_argument("--trials", type=int, default=10_000, help=f"with {RESULTS_A_TRIAL} results each")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=["resume", "durability"])
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="overtone_resume_"))
    found: dict[str, Any] = {}
    try:
        if arguments.only != "durability":
            began = time.perf_counter()
            folder, n_results = killed(root, arguments.trials)
            size = (folder / "journal.jsonl").stat().st_size / 1e6
            print(
                f"{arguments.trials:,} trials with {n_results:,} results, {size:.0f} MB, killed after "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )
            for with_snapshot in (True, False):
                repeat = arguments.repeat if with_snapshot else 1
                taken = [resumed_s(root, arguments.trials, with_snapshot) for _ in range(repeat)]
                name = "resume_s" if with_snapshot else "resume_without_snapshot_s"
                found[name] = round(statistics.median(taken), 2)
        if arguments.only != "resume":
            pairs = [
                (results_per_s(root, "with"), results_per_s(root, "without")) for _ in range(arguments.repeat)
            ]
            found["results_per_s"] = round(statistics.median(one for one, _ in pairs))
            found["with_journal_over_without"] = round(statistics.median(a / b for a, b in pairs), 3)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
