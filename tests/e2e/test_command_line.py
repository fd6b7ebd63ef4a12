"""The command line as users call it, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from overtone import tune
from overtone.cli import main
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.testing.scripted_records import Story

SCRIPT = """\
import os, sys
from overtone import tune

def train(config):
    for step in range(3):
        if config["x"] == 2 and not os.environ.get("OVERTONE_RESUME"):
            os._exit(9)  # the driver dies, for trials run in it
        tune.report(loss=config["x"] + 1 / (step + 1))

tune.run(train, config={"x": tune.grid_search([1, 2, 3])}, name="exp", storage_path=sys.argv[1],
         engine="inline", metric="loss", mode="min", verbose=0, checkpoint_freq=0)
"""


@pytest.fixture
def environment(tmp_path, monkeypatch) -> dict[str, str]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return dict(os.environ)


def test_an_experiment_whose_driver_died_is_listed_resumed_and_asked(environment, tmp_path, capsys):
    def asked(*argv: str) -> str:
        assert main(argv) == 0
        return capsys.readouterr().out

    (tmp_path / "search.py").write_text(SCRIPT)
    command = [sys.executable, "search.py", str(tmp_path / "overtone_results")]
    first = subprocess.run(command, cwd=tmp_path, env=environment, timeout=60)
    assert first.returncode == 9
    [found] = json.loads(asked("ls", "--json"))
    assert (found["state"], found["is_resumable"]) == ("crashed", True)
    command = [sys.executable, "-m", "overtone", "resume", "exp"]
    second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (second.returncode, second.stdout.split("\n")[0][:12]) == (0, "resuming exp"), second.stderr
    [found] = json.loads(asked("ls", "--json"))
    assert (found["state"], found["statuses"], found["results"]) == ("finished", {"TERMINATED": 3}, 9)
    assert json.loads(asked("best", "exp", "--json"))["config"] == {"x": 1}
    assert "resumed by a new driver" in asked("why", "exp", "1")


def test_tail_ends_with_ctrl_c(environment, tmp_path):
    story = Story()
    story.start(story.add({"lr": 0.1}))
    (tmp_path / "exp").mkdir()
    writer = JournalWriter(tmp_path / "exp" / "journal.jsonl", new_header(1, {"name": "train"}))
    writer.append([replace(one, n=one.n + 1) for one in story.records])
    command = [sys.executable, "-m", "overtone", "tail", str(tmp_path / "exp")]
    tail = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert tail.stdout.readline().endswith("358bb_00000 started (lr=0.1)\n")  # so it follows now
        tail.send_signal(signal.SIGINT)
        assert tail.communicate(timeout=60) == ("", "")
        assert tail.returncode == 130
    finally:
        tail.kill()
        tail.communicate()
        writer.close()


def test_a_reader_that_stops_reading_is_quiet(environment, tmp_path):
    command = f"{sys.executable} -m overtone --help | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("usage: overtone [-h] [--version] COMMAND ...\n", "")


def test_an_experiment_at_a_url_is_asked_like_any_other(environment, capsys):
    pytest.importorskip("fsspec")

    def train(config):
        tune.report(loss=config["x"])

    space = {"x": tune.grid_search([2, 1])}
    options = {"engine": "inline", "metric": "loss", "mode": "min", "verbose": 0}
    tune.run(train, config=space, name="exp", storage_path="memory://bucket/results", **options)
    capsys.readouterr()
    for argv in (["ls", "memory://bucket/results"], ["show", "memory://bucket/results/exp"]):
        assert main(argv) == 0
        assert "finished" in capsys.readouterr().out
    assert main(["best", "memory://bucket/results/exp", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["config"] == {"x": 1}
    assert (
        main(["resume", "memory://bucket/results/exp", "--force", "--dry-run", "--json", "--", "true"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["path"] == "memory://bucket/results/exp"
    assert main(["show", "memory://bucket/results/other"]) == 1
