"""The same command again, after whatever ended it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from overtone import tune
from overtone.errors import OvertoneError, StorageError
from overtone.journal.reader import scan
from overtone.tune.schedulers import ASHAScheduler

SCRIPT = """
import json, os, sys, time
from overtone import tune

def train(config):
    start = tune.get_checkpoint()
    t = start.to_dict()["t"] if start else 0
    while t < 6:
        t += 1
        time.sleep(float(os.environ.get("PACE", "0")))
        tune.report({"loss": config["x"] / t}, checkpoint=tune.Checkpoint.from_dict({"t": t}))

if __name__ == "__main__":
    space = {"x": tune.uniform(0, 1)}
    if os.environ.get("MORE"):
        space["y"] = 3
    analysis = tune.run(
        train, config=space, num_samples=int(os.environ.get("SAMPLES", "4")), metric="loss", mode="min",
        storage_path=sys.argv[1], verbose=1, seed=3, tensorboard=False,
        **json.loads(os.environ.get("ARGUMENTS", "{}")),
    )
    print("TRIALS", len(analysis.trials), sorted(len(one) for one in analysis.trial_dataframes.values()))
"""


@pytest.fixture
def script(tmp_path):
    """Starts the script; its arguments of `tune.run` as keywords."""
    file = tmp_path / "search.py"
    file.write_text(SCRIPT)
    results = tmp_path / "results"

    def begin(pace=0.0, samples=4, more="", **arguments):
        environment = {
            **os.environ, "PACE": str(pace), "SAMPLES": str(samples), "MORE": more, "ARGUMENTS": json.dumps(arguments),
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, str(file), str(results)], env=environment, text=True, cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    begin.results = results
    yield begin
    for process in psutil.Process().children(recursive=True):
        if str(file) in " ".join(process.cmdline()):
            process.kill()


def wait_for_results(folder: Path, n: int) -> Path:
    """The journal below `folder`, once it holds `n` reports."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        for journal in folder.glob("*/journal.jsonl"):
            if journal.read_bytes().count(b'"e":"reported"') >= n:
                return journal
        time.sleep(0.02)
    raise AssertionError(f"no {n} results in {folder}")


def shown(journal: Path) -> list[tuple[str, int]]:
    """The results that were shown."""
    return sorted(
        (record["trial_id"], record["t"]) for kind, record in scan(journal)
        if kind == "reported" and not any(one.get("what") == "redone" for one in record.get("choices", ()))
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [{"name": "exp"}, {}])
def test_after_kill_9_it_goes_on(script, arguments):
    first = script(pace=0.05, **arguments)
    journal = wait_for_results(script.results, 5)
    first.kill()
    first.communicate()
    before = shown(journal)
    second = script(resume="AUTO", **arguments)
    text = second.communicate(timeout=100)[0]
    assert "TRIALS 4 [6, 6, 6, 6]" in text
    assert f"resuming {journal.parent}: " in text
    assert "go on from their checkpoints" in text
    after = shown(journal)
    assert set(before) <= set(after)
    assert len(after) == len(set(after)) == 24
    for trial in {one for one, _ in after}:
        lines = (journal.parent / trial / "result.json").read_text().splitlines()
        assert [json.loads(line)["training_iteration"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_after_ctrl_c_it_says_how_to_go_on_and_goes_on(script):
    first = script(pace=0.05)
    journal = wait_for_results(script.results, 5)
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=100)
    again = script(samples=1)
    assert f"overtone resume {journal.parent}" in again.communicate(timeout=100)[0]
    resumed = script(resume=True, name=journal.parent.name)
    assert "TRIALS 4 [6, 6, 6, 6]" in resumed.communicate(timeout=100)[0]


def test_a_changed_space_is_told_key_by_key(script):
    script(name="exp", samples=1).communicate(timeout=100)
    text = script(name="exp", samples=2, more="yes", resume=True).communicate(timeout=100)[0]
    assert "  space: y: was not there, is 3 (taken: " in text
    assert "TRIALS 2" in text


def curve(config, t):
    return {"loss": config["x"] / t}


def search(tmp_path, **arguments):
    given = {
        "config": {"x": tune.uniform(0, 1)}, "num_samples": 3, "metric": "loss", "mode": "min",
        "stop": {"training_iteration": 3}, "engine": "simulated", "storage_path": tmp_path, "name": "exp",
        "verbose": 0, "tensorboard": False,
    }  # fmt: skip
    return tune.run(curve, **{**given, **arguments})


def test_what_cannot_be_read_is_an_error_and_never_begun_anew(tmp_path):
    search(tmp_path)
    journal = tmp_path / "exp" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b"time", b"tame")
    damaged = b"".join(lines)
    journal.write_bytes(damaged)
    with pytest.raises(StorageError, match="line 5"):
        search(tmp_path, resume="AUTO")
    assert journal.read_bytes() == damaged


def test_resume_without_an_experiment(tmp_path):
    with pytest.raises(OvertoneError, match="holds no experiment"):
        search(tmp_path, resume=True)
    assert len(search(tmp_path, resume="AUTO").trials) == 3


def test_tuner_restore_goes_on_with_more_samples(tmp_path):
    search(tmp_path, scheduler=ASHAScheduler(max_t=3))
    assert tune.Tuner.can_restore(tmp_path / "exp")
    tuner = tune.Tuner.restore(tmp_path / "exp", curve, num_samples=5, engine="simulated", verbose=0)
    assert len(tuner.fit()) == 5
    with pytest.raises(TypeError, match="needs the trainable"):
        tune.Tuner.restore(tmp_path / "exp")


def test_failed_trials_are_tried_again_where_that_is_asked(tmp_path, capfd):
    broken = tmp_path / "broken"
    broken.touch()

    def train(config):
        for t in range(1, 4):
            if t == 2 and broken.exists():
                raise RuntimeError("broken")
            tune.report({"loss": t})

    def go(**arguments):
        return tune.run(
            train, num_samples=2, metric="loss", mode="min", engine="inline", storage_path=tmp_path,
            name="exp", verbose=1, tensorboard=False, raise_on_failed_trial=False, **arguments,
        )  # fmt: skip

    assert {trial.status for trial in go().trials} == {"ERROR"}
    assert {trial.status for trial in go(resume=True).trials} == {"ERROR"}
    broken.unlink()
    capfd.readouterr()
    found = go(resume="AUTO+ERRORED")
    said = capfd.readouterr()
    assert "2 of them had ended, 2 in an error: these are tried again" in said.err
    assert ": 2 TERMINATED\n" in said.out
    assert "failed: " not in said.out
    assert {trial.status for trial in found.trials} == {"TERMINATED"}
    assert [len(one) for one in found.trial_dataframes.values()] == [3, 3]


def test_a_moved_experiment_goes_on_from_its_checkpoints(tmp_path):
    broken = tmp_path / "broken"
    broken.touch()
    begun = []

    def train(config):
        saved = tune.get_checkpoint()
        begun.append(int(Path(saved.path, "t").read_text()) if saved else 0)
        for t in range(begun[-1] + 1, 4):
            if t == 3 and broken.exists():
                raise RuntimeError("broken")
            with tune.checkpoint_dir(step=t) as folder:
                Path(folder, "t").write_text(str(t))
            tune.report(loss=t)

    def go(name, **arguments):
        return tune.run(
            train, metric="loss", mode="min", engine="inline", storage_path=tmp_path, name=name,
            verbose=0, tensorboard=False, raise_on_failed_trial=False, keep_checkpoints_num=1, **arguments,
        )  # fmt: skip

    go("exp")
    broken.unlink()
    (tmp_path / "exp").rename(tmp_path / "moved")
    found = go("moved", resume="AUTO+ERRORED")
    assert begun == [0, 2]
    saved = Path(found.trials[0].checkpoint.path)
    assert saved.is_relative_to(tmp_path / "moved")
    assert (saved / "t").read_text() == "3"
    assert list((tmp_path / "moved").glob("*/checkpoint_*")) == [saved]


def test_after_ctrl_c_it_says_what_is_done_again(tmp_path, capfd):
    class Interrupts(tune.Callback):
        def on_trial_result(self, trial, result, **info):
            if result["training_iteration"] == 2:
                signal.raise_signal(signal.SIGINT)

    def train(config):
        for step in range(1, 1000 if config["waits"].exists() else 3):
            tune.report({"loss": step})
            time.sleep(0.01)

    def search(*callbacks):
        tune.run(
            tune.with_parameters(train), config={"waits": waits}, metric="loss", mode="min", name="exp",
            storage_path=str(tmp_path), resume="AUTO", callbacks=callbacks, verbose=1,
        )  # fmt: skip
        told = capfd.readouterr()
        return " ".join((told.out + told.err).split())

    waits = tmp_path / "waits"
    waits.touch()
    assert "press Ctrl-C again" in search(Interrupts())
    waits.unlink()
    told = search()
    assert "0 of them had ended; 1 go on from their beginning; " in told
    assert " of training) are done again" in told
