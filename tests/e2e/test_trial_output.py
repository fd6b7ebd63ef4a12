"""Output of trials that run: kept beside their results, and printed by `overtone logs`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from overtone import tune
from overtone.cli import main
from overtone.reading.trial_output import NEWEST

WAITING = """\
import os, sys, time
from overtone import tune

def train(config):
    print("begun")
    os.write(2, b"\\x1b[2Jcleared\\n")
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.01)
    os.system("echo from a child")
    tune.report(loss=1.0)

if __name__ == "__main__":
    tune.run(train, storage_path=sys.argv[1], name="exp", verbose=0)
"""


def printing(config):
    for i in range(3):
        print(f"line {i} of {config['x']}")
        print(f"warning {i}", file=sys.stderr)
    subprocess.run(["echo", "from a child"], check=True)
    tune.report(loss=config["x"])


def silent(config):
    tune.report(loss=1.0)


def run(tmp_path, trainable=printing, **options):
    tune.run(
        trainable,
        config={"x": tune.grid_search([1, 2])},
        storage_path=str(tmp_path),
        name="exp",
        verbose=0,
        **options,
    )
    return tmp_path / "exp"


@pytest.fixture
def logs(capfd):
    def call(*argv):
        capfd.readouterr()
        code = main(["logs", *map(str, argv)])
        out, err = capfd.readouterr()
        return code, out.splitlines(), err

    return call


@pytest.mark.parametrize(
    "options", [{}, {"reuse_actors": True}, {"log_to_file": True}, {"log_to_file": "log"}]
)
def test_each_trial_has_its_own(tmp_path, logs, options):
    folder = run(tmp_path, max_concurrent_trials=1, **options)
    for index, x in enumerate([1, 2]):
        code, out, _ = logs(folder, index)
        assert code == 0
        assert sorted(out) == sorted(
            [*(f"line {i} of {x}" for i in range(3)), *(f"warning {i}" for i in range(3)), "from a child"]
        )


def test_one_stream_and_the_last_lines(tmp_path, logs):
    folder = run(tmp_path)
    assert logs(folder, 0, "--stderr")[1] == ["warning 0", "warning 1", "warning 2"]
    assert logs(folder, 0, "--stderr", "-n", 1)[1] == ["warning 2"]
    assert logs(folder, 0, "--stdout", "-n", 2)[1] == ["line 2 of 1", "from a child"]


def test_nothing_is_made_for_trials_that_print_nothing(tmp_path, logs):
    folder = run(tmp_path, silent)
    assert not list(folder.glob(f"*/{NEWEST}"))
    code, out, err = logs(folder, 0)
    assert (code, out) == (1, [])
    assert "has printed nothing" in err


def test_it_says_why_there_is_none(tmp_path, logs):
    folder = run(tmp_path, captures_output=False)
    assert "log_to_file=True" in logs(folder, 0)[2]


@pytest.fixture
def waiting(tmp_path):
    """An experiment whose trial waits; yields its folder and a function that lets the trial go on."""
    script, signal_file = tmp_path / "train.py", tmp_path / "go"
    script.write_text(WAITING)
    driver = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path), str(signal_file)], stdout=subprocess.PIPE, text=True
    )
    assert "begun" in driver.stdout.readline() + driver.stdout.readline()
    yield tmp_path / "exp", signal_file.touch, driver
    signal_file.touch()
    driver.communicate(timeout=60)


def follow(folder):
    command = [sys.executable, "-m", "overtone", "logs", str(folder), "0", "-f"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_following_ends_with_the_trial(waiting):
    folder, go_on, _ = waiting
    following = follow(folder)
    assert following.stdout.readline() == "begun\n"
    assert following.stdout.readline() == "cleared\n"
    go_on()
    out, err = following.communicate(timeout=60)
    assert (following.returncode, out, err) == (0, "from a child\n", "")


def test_ctrl_c_is_quiet(waiting):
    folder, _, _ = waiting
    following = follow(folder)
    assert following.stdout.readline() == "begun\n"
    following.send_signal(signal.SIGINT)
    _, err = following.communicate(timeout=60)
    assert following.returncode == 130
    assert not re.search("Traceback", err)


def test_a_driver_that_is_killed_leaves_what_was_printed(waiting, logs):
    folder, _, driver = waiting
    following = follow(folder)
    assert following.stdout.readline() == "begun\n"
    os.kill(driver.pid, signal.SIGKILL)
    _, err = following.communicate(timeout=60)
    assert (following.returncode, err) == (0, "")
    assert logs(folder, 0)[1] == ["begun", "cleared"]


def test_it_is_read_from_a_url(tmp_path, logs, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"memory:/{tmp_path}/results"
    config = {"x": tune.grid_search([1])}
    tune.run(
        printing, config=config, storage_path=url, name="exp", verbose=0, engine="inline", log_to_file=True
    )
    for place in ("the driver's machine", "another machine"):
        code, out, _ = logs(f"{url}/exp", 0, "--stdout", "-n", 1)
        assert (code, out) == (0, ["line 2 of 1"]), place
        shutil.rmtree(tmp_path / "cache")
    code, _, err = logs(f"{url}/exp", 0, "-f")
    assert code == 1
    assert "leave out -f" in err


def test_a_resume_goes_on_in_the_same_file(tmp_path, logs):
    def fails_once(config):
        print(f"attempt {os.path.exists(tmp_path / 'failed')}")
        if not os.path.exists(tmp_path / "failed"):
            (tmp_path / "failed").touch()
            raise ValueError
        tune.report(loss=1.0)

    tune.run(fails_once, storage_path=str(tmp_path), name="exp", verbose=0, max_failures=1)
    assert logs(tmp_path / "exp", 0, "--stdout")[1] == ["attempt False", "attempt True"]


def test_options_that_exclude_each_other(tmp_path, logs):
    code, _, err = logs(tmp_path, 0, "--stdout", "--stderr")
    assert code == 2
    assert "not allowed with" in err
