"""How long it takes to resume an experiment whose driver was killed, and what its journal costs.

    python benchmarks/resume.py                       10,000 trials with 100,000 results; durability
    python benchmarks/resume.py --trials 100000       ... with 1,000,000 results

The experiment is made up: the real controller is told what an engine would say, and the real
codec writes it down, up to a moment at which sixteen trials still run. Then a new process
resumes it by `tune.run(..., resume=True)`, on the local engine; what counts is the time from that
call to the first start of a trial, with everything replayed and all files in order.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

SLOTS = 16
RESULTS_A_TRIAL = 10
SECONDS_A_RESULT = 0.5
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


def make_up(root: Path, trials: int) -> tuple[Path, int]:
    """The folder of an experiment that was killed, and how many results it has."""
    from overtone.core import messages as m
    from overtone.journal.text import dumps
    from overtone.observers import rebuild
    from overtone.run.compose import compose
    from overtone.run.journals import codec_for, open_journal

    asked = experiment(root, trials, "resumed")
    parts = compose(asked)
    controller, journal = parts.controller, open_journal(asked, parts)
    events: deque[Any] = deque([m.CapacityChanged(0.0, {"local": {"cpu": float(SLOTS)}})])
    t: dict[str, int] = {}
    records, n, n_results, most = [], 1, 0, trials * RESULTS_A_TRIAL - SLOTS * RESULTS_A_TRIAL // 2
    clock = 0.0
    while events and n_results < most:
        event = events.popleft()
        n, clock = n + 1, clock + SECONDS_A_RESULT / SLOTS
        object.__setattr__(event, "time", clock)
        choices, commands, _ = controller.handle(event)
        records.append(m.Record(n, event, choices))
        for command in commands:
            if isinstance(command, m.Suggest):
                events.append(m.Suggested(clock, command.index, parts.searcher.suggest(command.index)))
            elif isinstance(command, m.Start):
                events.append(m.Started(clock, command.trial_id, command.attempt, "local", 1, "host"))
                t[command.trial_id] = 0
                for _ in range(RESULTS_A_TRIAL):
                    t[command.trial_id] += 1
                    n_results += 1
                    metrics = {
                        "loss": controller.trials[command.trial_id].config["x"] + 1 / t[command.trial_id],
                        "training_iteration": t[command.trial_id],
                        "time_total_s": t[command.trial_id] * 0.5,
                        "timestamp": 1_790_000_000,
                        "iterations_since_restore": t[command.trial_id],
                        "time_since_restore": t[command.trial_id] * 0.5,
                        **FIELDS,
                    }
                    raw = dumps(metrics)
                    events.append(
                        m.Reported(clock, command.trial_id, 0, t[command.trial_id], metrics, None, raw)
                    )
                events.append(m.Ended(clock, command.trial_id, command.attempt, "returned"))
        if len(records) >= 1_000:
            journal.append(records)
            records = []
    journal.append(records)
    journal.close()
    with parts.place:
        pass
    rebuild(parts.folder, codec=codec_for(parts.space))
    return parts.folder, n_results


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

asked = resume.experiment(Path({root!r}), {trials}, "resumed", resume=True, tensorboard={tensorboard},
                          callbacks=[First()])
began = time.perf_counter()
execute(asked)
"""


def resumed_s(root: Path, trials: int, tensorboard: bool) -> float:
    """The seconds that a resume takes; the folder is the same afterwards."""
    journal = root / "resumed" / "journal.jsonl"
    before = journal.stat().st_size
    here = str(Path(__file__).parent)
    code = RESUME.format(here=here, root=str(root), trials=trials, tensorboard=tensorboard)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    os.truncate(journal, before)
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
            folder, n_results = make_up(root, arguments.trials)
            size = (folder / "journal.jsonl").stat().st_size / 1e6
            print(
                f"{arguments.trials:,} trials with {n_results:,} results, {size:.0f} MB, made up in "
                f"{time.perf_counter() - began:.0f} s",
                flush=True,
            )
            for tensorboard in (False, True):
                taken = [resumed_s(root, arguments.trials, tensorboard) for _ in range(arguments.repeat)]
                name = "resume_s" if not tensorboard else "resume_with_tensorboard_s"
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
