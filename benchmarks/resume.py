"""How long it takes to resume an experiment whose driver was killed, and what its journal costs.

    python benchmarks/resume.py                       10,000 trials with 100,000 results; durability
    python benchmarks/resume.py --trials 100000       ... with 1,000,000 results
    python benchmarks/resume.py --only algorithms     CPU time with several schedulers and searchers

The experiment is a real run, but for its engine, which reports at once what trials would; it kills
its driver with SIGKILL while sixteen trials run. Then a new process resumes it by
`tune.run(..., resume=True)`, on the local engine; what counts is the time from that call to the
moment at which the driver goes on, with everything known and all files in order: with the driver's last
snapshot, and without one.

"algorithms" takes the processor's time instead, and drivers without a limit of results a second, which
take snapshots as soon as they are due. The two resumes take turns; the figures are medians.
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
from collections.abc import Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from overtone.core import messages as m
from overtone.core.protocols import Engine
from overtone.core.types import Checkpoint
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


ALGORITHMS = {
    "fifo": (1_000, 10_000, 100_000),
    "asha": (1_000, 10_000, 100_000),
    "median": (1_000, 10_000),
    "pbt": (1_000, 10_000),
    "auto": (300,),
}
"""Schedulers, or "auto" for that searcher, and the numbers of trials."""


def experiment(
    root: Path, trials: int, name: str, algorithm: str = "asha", n_results: int = RESULTS_A_TRIAL, **more: Any
) -> Any:
    """Return the experiment: by default ASHA over random search, with one rung at the last result."""
    from overtone import tune
    from overtone.experiment import Experiment
    from overtone.tune import schedulers

    t = "training_iteration"
    scheduler = {
        "asha": lambda: schedulers.ASHAScheduler(max_t=100, grace_period=n_results, reduction_factor=4),
        "median": lambda: schedulers.MedianStoppingRule(time_attr=t, grace_period=n_results),
        "pbt": lambda: schedulers.PopulationBasedTraining(
            time_attr=t, perturbation_interval=2, hyperparam_mutations={"lr": tune.loguniform(1e-5, 1e-1)},
            log_config=False,
        ),
    }.get(algorithm)  # fmt: skip
    return Experiment(
        train, {"x": tune.uniform(0, 1), "lr": tune.loguniform(1e-5, 1e-1)}, name=name, storage=root,
        num_samples=trials, metric="loss", mode="min", scheduler=scheduler() if scheduler else None,
        searcher="auto" if algorithm == "auto" else None, seed=1, verbose=0, **more,
    )  # fmt: skip


class Instant(Engine):
    """Reports at once what is due, and kills its driver when that has heard of `most` results.

    No more is due than `most_per_s` allows: by default twice what fresh processes were ever measured to do.
    """

    def __init__(self, most: int, n_results: int = RESULTS_A_TRIAL, saves: bool = False,
                 most_per_s: float = MOST_RESULTS_PER_S) -> None:  # fmt: skip
        self._most, self._n_each, self._saves, self._most_per_s = most, n_results, saves, most_per_s
        self._clock, self._n_results, self._n_events = 0.0, 0, 0
        self._began = time.monotonic()
        self._due: list[tuple[float, int, Any]] = []
        self._halted: set[tuple[str, int]] = set()
        self._add(0.0, m.CapacityChanged(0.0, {"local": {"cpu": float(SLOTS)}}))

    def open(self, job: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def now(self) -> float:
        return self._clock

    def submit(self, commands: Sequence[Any]) -> None:
        for command in commands:
            if isinstance(command, m.Start):
                self._start(command)
            elif isinstance(command, m.Halt):
                self._halted.add((command.trial_id, command.attempt))
                self._add(self._clock, m.Ended(self._clock, command.trial_id, command.attempt, "halted"))
            elif isinstance(command, m.Discard):
                self._add(self._clock, m.Discarded(self._clock, command.uri))

    def _start(self, command: m.Start) -> None:
        trial_id, attempt, now = command.trial_id, command.attempt, self._clock
        self._add(now, m.Started(now, trial_id, attempt, "local", 1, "host"))
        first = command.checkpoint.t if command.checkpoint is not None else 0
        for t in range(first + 1, self._n_each + 1):
            now += SECONDS_A_RESULT
            metrics = {
                "loss": command.config["x"] + 1 / t,
                "training_iteration": t,
                "time_total_s": t * 0.5,
                "timestamp": 1_790_000_000,
                "iterations_since_restore": t,
                "time_since_restore": t * 0.5,
                **FIELDS,
            }
            uri = f"{trial_id}/checkpoint_{t:06d}_{attempt}"
            saved = Checkpoint(trial_id, t, uri, 1000) if self._saves and t % 2 == 0 else None
            self._add(now, m.Reported(now, trial_id, attempt, t, metrics, saved, dumps(metrics)))
        self._add(now, m.Ended(now, trial_id, attempt, "returned"))

    def _add(self, at: float, event: Any) -> None:
        self._n_events += 1
        heappush(self._due, (at, self._n_events, event))

    def poll(self, timeout_s: float | None) -> list[Any]:
        if self._n_results >= self._most:
            os.kill(os.getpid(), signal.SIGKILL)
        early_s = self._n_results / self._most_per_s - (time.monotonic() - self._began)
        if early_s > 0:
            time.sleep(early_s)
        found: list[Any] = []
        while self._due and len(found) < BATCH:
            self._clock, _, event = heappop(self._due)
            ident = getattr(event, "trial_id", None), getattr(event, "attempt", 0)
            if ident not in self._halted or getattr(event, "cause", "") == "halted":
                found.append(event)
        self._n_results += sum(type(one) is m.Reported for one in found)
        return found


DOOMED = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import resume
from overtone.run import execute
from overtone.run.resume import snapshot

options = {{}}
if {algorithm!r}:
    options = dict(n_results={n_results}, saves={algorithm!r} == "pbt", most_per_s=1e9)
    snapshot._FIRST_S, snapshot._SHARE = 0.0, 1e9
engine = resume.Instant({most}, **options)
execute(resume.experiment(Path({root!r}), {trials}, "resumed", {algorithm!r} or "asha", {n_results},
                          engine=engine, tensorboard=False))
"""


def killed(
    root: Path, trials: int, algorithm: str = "", n_results: int = RESULTS_A_TRIAL
) -> tuple[Path, int]:
    """The folder of an experiment whose driver was killed, and how many results it has."""
    most = trials * n_results - SLOTS * n_results  # the last ones may come with the end of the run
    code = DOOMED.format(
        here=str(Path(__file__).parent), root=str(root), trials=trials, most=most, algorithm=algorithm,
        n_results=n_results,
    )  # fmt: skip
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
            print(clock() - began, flush=True)
            import os
            os._exit(0)

asked = resume.experiment(Path({root!r}), {trials}, "resumed", {algorithm!r} or "asha", {n_results},
                          resume=True, tensorboard=False, callbacks=[First()])
clock = time.process_time if {algorithm!r} else time.perf_counter
began = clock()
execute(asked)
"""


def resumed_s(
    root: Path, trials: int, with_snapshot: bool, algorithm: str = "", n_results: int = RESULTS_A_TRIAL
) -> float:
    """The seconds that a resume takes; the folder is the same afterwards."""
    folder = root / "resumed"
    journal, snapshot, aside = folder / "journal.jsonl", folder / "snapshot.json", folder / "aside.json"
    before = journal.stat().st_size
    if not with_snapshot and snapshot.exists():
        snapshot.rename(aside)
    code = RESUME.format(
        here=str(Path(__file__).parent), root=str(root), trials=trials, algorithm=algorithm,
        n_results=n_results,
    )  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    os.truncate(journal, before)
    if aside.exists():
        aside.rename(snapshot)
    return float(done.stdout.split()[-1])


def show_algorithms(root: Path, repeat: int, most_trials: int, n_results: int) -> None:
    """Print the CPU time of resumes with a snapshot and without, a line for each algorithm and size."""
    print(f"{'':8} {'trials':>8} {'results':>9} {'with s':>8} {'without s':>9} {'ratio':>6}")
    for algorithm, sizes in ALGORITHMS.items():
        for trials in (one for one in sizes if one <= most_trials):
            folder, n = killed(root, trials, algorithm, n_results)
            resumed_s(root, trials, True, algorithm, n_results)  # it mends the files that the kill cut short
            pairs = [
                tuple(resumed_s(root, trials, one, algorithm, n_results) for one in (True, False))
                for _ in range(repeat)
            ]
            seen, unseen = (statistics.median(one) for one in zip(*pairs, strict=True))
            mark = "" if (folder / "snapshot.json").exists() else "  no snapshot"
            line = f"{algorithm:8} {trials:8,} {n:9,} {seen:8.2f} {unseen:9.2f} {unseen / seen:6.2f}"
            print(f"{line}{mark}", flush=True)
            shutil.rmtree(folder)


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
    parser.add_argument("--only", choices=["resume", "durability", "algorithms"])
    parser.add_argument("--results", type=int, default=5, help="of a trial, for --only algorithms")
    arguments = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="overtone_resume_"))
    found: dict[str, Any] = {}
    try:
        if arguments.only == "algorithms":
            show_algorithms(root, arguments.repeat, arguments.trials, arguments.results)
            return
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
