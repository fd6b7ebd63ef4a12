"""A program that asks and tells is killed at random moments, and run again: no result is lost or doubled.

OVERTONE_KILLS says how often (10).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

from overtone.analysis import ExperimentAnalysis
from overtone.run.verify import verify

KILLS = int(os.environ.get("OVERTONE_KILLS", "10"))
SEED = int(os.environ.get("OVERTONE_SEED", "1"))
LENGTH, TRIALS_A_KILL = 4, 3

PROGRAM = """
import sys
from overtone import tune

folder, n_trials, n_at_once = sys.argv[1], int(sys.argv[2]), 3
study = tune.ask_tell({"x": tune.uniform(0, 1)}, metric="loss", mode="min", name="s", storage_path=folder,
                      search_alg="sobol", resume="AUTO", num_samples=n_trials, files=False, seed=1)
say = lambda *words: print(*words, flush=True)
while True:
    trials = [trial for trial in (study.ask() for _ in range(n_at_once)) if trial is not None]
    if not trials:
        break
    for trial in trials:
        say("asked", trial.trial_id, trial.resumed_at)
    for trial in trials:
        for t in range(trial.iteration + 1, LENGTH):
            trial.report(trial.number + t / 8)
            say("reported", trial.trial_id, t)
        study.tell(trial, trial.number + LENGTH / 8)
        say("told", trial.trial_id)
say("over")
""".replace("LENGTH", str(LENGTH))


def test_killed_and_run_again(tmp_path: Path) -> None:
    random = Random(SEED)
    n_trials = KILLS * TRIALS_A_KILL
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(n_trials)]
    told: list[str] = []
    reported: set[tuple[str, str]] = set()
    is_over = False
    for n in range(KILLS + 1):
        stop_after = random.randrange(1, 12) if n < KILLS else sys.maxsize
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            resumed = []
            for n_lines, line in enumerate(process.stdout, 1):
                if not line.endswith("\n"):
                    break  # It was killed while it wrote this.
                words = line.split()
                if words[0] == "asked":
                    resumed.append(words[2] != "None")
                elif words[0] == "told":
                    told.append(words[1])
                elif words[0] == "reported":
                    reported.add((words[1], words[2]))
                is_over = words == ["over"]
                if n_lines == stop_after:
                    until = time.perf_counter() + random.random() * 0.002
                    while time.perf_counter() < until:
                        pass
                    process.send_signal(signal.SIGKILL)
        assert resumed == sorted(resumed, reverse=True)  # Open trials come first.
    assert is_over
    assert len(set(told)) == len(told)  # Nobody tells a trial twice.
    found = {one.trial_id: one for one in ExperimentAnalysis(tmp_path / "s").trials}
    assert len(found) == n_trials
    assert set(told) <= found.keys()
    for number, trial in enumerate(found.values()):
        assert trial.status == "TERMINATED"
        results = [(row["training_iteration"], row["loss"]) for row in trial.results()]
        assert results == [(t, number + t / 8) for t in range(1, LENGTH + 1)]
    assert {(one, int(t)) for one, t in reported} <= {
        (one.trial_id, t) for one in found.values() for t in range(1, LENGTH + 1)
    }
    assert verify(tmp_path / "s").is_same
