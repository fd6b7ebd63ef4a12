"""A script with a scheduler and a searcher in Ray Tune's form, whose driver is killed and begun again."""

import os
import signal
import subprocess
import sys
import time

import pytest

SCHEDULER = """
import sys, time
from overtone import tune
from overtone.tune.schedulers import {base}

class Mine({base}):
    def on_trial_result(self, tune_controller, trial, result):
        if result["training_iteration"] == 2 and int(time.time() * 1e6) % 2:  # what no replay sees again
            return self.PAUSE
        if result["training_iteration"] >= 3 and result["loss"] > 0.25:
            return self.STOP
        return super().on_trial_result(tune_controller, trial, result)

def train(config):
    start = tune.get_checkpoint()
    for t in range(start.to_dict()["t"] + 1 if start else 1, 7):
        time.sleep(0.02)
        tune.report({{"loss": config["x"] / t}}, checkpoint=tune.Checkpoint.from_dict({{"t": t}}))

if __name__ == "__main__":
    found = tune.run(
        train, config={{"x": tune.uniform(0, 1)}}, num_samples=8, metric="loss", mode="min", resume="AUTO", name="it",
        storage_path=sys.argv[1], verbose=0, seed=3, tensorboard=False, scheduler=Mine({arguments}),
    )
    print("TRIALS", sorted((one.status, one.last_result["training_iteration"]) for one in found.trials))
"""


SEARCHER = """
import random, sys, time
from overtone import tune
from overtone.tune.search import ConcurrencyLimiter, Searcher

class Mine(Searcher):
    told = ()

    def suggest(self, trial_id):
        self.live = {{**getattr(self, "live", {{}}), trial_id: {draw}}}
        return {{"x": self.live[trial_id]}}

    def on_trial_complete(self, trial_id, result=None, error=False):
        self.told += ((self.live.pop(trial_id), result and result["x"]),)

def train(config):
    for t in range(3):
        time.sleep(0.02)
        tune.report({{"loss": config["x"] / (t + 1), "x": config["x"]}})

if __name__ == "__main__":
    mine = Mine()
    found = tune.run(
        train, num_samples=10, metric="loss", mode="min", resume="AUTO", name="it", storage_path=sys.argv[1],
        verbose=0, seed=3, tensorboard=False, search_alg=ConcurrencyLimiter(mine, 2),
    )
    print("TRIALS", [[one.config["x"] for one in found.trials], mine.told])
"""


def killed_after(n, script, folder):
    """Begin `script`, and kill its driver once its journal has `n` reports."""
    driver = subprocess.Popen([sys.executable, str(script), str(folder)], stderr=subprocess.PIPE, text=True)
    journal, deadline = folder / "it" / "journal.jsonl", time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b'"e":"reported"') >= n):
        assert driver.poll() is None, driver.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()


@pytest.mark.parametrize(
    ("base", "arguments"), [("FIFOScheduler", ""), ("ASHAScheduler", "max_t=6, grace_period=4")]
)
def test_a_driver_with_such_a_scheduler_is_killed_and_begun_again(base, arguments, tmp_path):
    script = tmp_path / "search.py"
    script.write_text(SCHEDULER.format(base=base, arguments=arguments))
    for n in (4, 10):
        killed_after(n, script, tmp_path)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    found = eval(done.stdout.split("TRIALS", 1)[1])
    assert len(found) == 8
    assert {status for status, _ in found} == {"TERMINATED"}
    if base == "FIFOScheduler":  # it is told, and not compared
        assert "would have" not in done.stderr
        assert "decide" not in done.stderr


@pytest.mark.parametrize("draw", ["random.random()", "time.time() % 1"])
def test_a_driver_with_such_a_searcher_is_killed_and_begun_again(draw, tmp_path):
    script = tmp_path / "search.py"
    script.write_text(SEARCHER.format(draw=draw))
    for n in (4, 12):
        killed_after(n, script, tmp_path)
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    configs, told = eval(done.stdout.split("TRIALS", 1)[1])
    assert len(configs) == len(set(configs)) == 10
    assert len(told) == 10
    results = {given: seen for given, seen in told if seen is not None}
    assert all(given == seen for given, seen in results.items())
    if "random" in draw:
        assert results.keys() == set(configs)
