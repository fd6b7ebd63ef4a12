"""An option, a scheduler, an observer, an engine's capability and a command each come with few files.

They are added to a copy of the package, in a repository with a commit for each, and then used together.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MOST_FILES = 3

SCHEDULER = '''"""Stops each trial whose score falls below a threshold."""

from overtone.core.decision import CONTINUE, Decision, Stop
from overtone.core.protocols import TrialScheduler
from overtone.core.trial import Trial
from overtone.core.types import Result, Why


class StopBelow(TrialScheduler):
    def __init__(self, threshold: float, metric: str | None = None, mode: str | None = None) -> None:
        self.threshold, self.metric, self.mode = threshold, metric, mode

    def on_result(self, trial: Trial, result: Result) -> Decision:
        return CONTINUE if result.score >= self.threshold else Stop(Why("below", result.t))
'''

OBSERVER = '''"""`starts.txt` in the experiment's folder: the ids of trials in the order of their starts."""

from pathlib import Path

from overtone.core.messages import Record, Started
from overtone.core.protocols import Observer


class StartList(Observer):
    follows_results = False

    def __init__(self, folder: Path) -> None:
        self._path = folder / "starts.txt"

    def on_record(self, record: Record) -> None:
        if isinstance(record.event, Started):
            with open(self._path, "a") as file:
                file.write(f"{record.event.trial_id}\\n")
'''

COMMAND = '''"""`overtone count EXP`: the number of an experiment's trials."""

import argparse

from overtone.cli.arguments import Arguments, add_experiment
from overtone.cli.exit_codes import OK


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_experiment(parser)


def run(args: Arguments) -> int:
    from overtone.cli.lookup import journal_of
    from overtone.reading.journal_index import JournalIndex

    index = JournalIndex(journal_of(args.experiment, args.dir))
    index.refresh()
    print(len(index.table.rows))
    return OK
'''

ADDITIONS = {
    "option": [
        ("experiment.py", "    files: bool | None = option(",
         '    greeting: str = option("hello", "The first word of a run.", changed="taken at once", config="RunConfig")\n'),
        ("tune/tune.py", "    **others: Any,", '    greeting: str = "hello",\n'),
        ("tune/tune.py", "\n\n@dataclass\nclass FailureConfig", '    greeting: str = "hello"\n'),
        ("run/jobs.py", "    limits = TrialLimits.of(", "    print(experiment.greeting)\n"),
    ],
    "scheduler": [
        ("schedulers/stop_below.py", "", SCHEDULER),
        ("tune/schedulers/__init__.pyi", "from overtone.schedulers.successive_halving import",
         "from overtone.schedulers.stop_below import StopBelow as StopBelow\n"),
        ("named.py", '    "successive_halving":', '    "stop_below": "overtone.schedulers.stop_below:StopBelow",\n'),
    ],
    "observer": [
        ("observers/start_list.py", "", OBSERVER),
        ("run/observers.py", "    if plan.scheduler.log_config:",
         "    from overtone.observers.start_list import StartList\n\n    found.append(StartList(folder))\n"),
    ],
    "capability": [
        ("core/capabilities.py", "    max_concurrent: int | None = None", "    is_serial: bool = False\n"),
        ("engines/inline.py", "    def __init__(\n        self, cpus:",
         "    is_serial = True\n\n"),
        ("run/drive.py", "            open_parts.callback(engine.close)",
         '            if engine.capabilities.is_serial:\n                say("trials run one after the other")\n'),
    ],
    "command": [
        ("cli/commands/count.py", "", COMMAND),
        ("cli/arguments.py", '    "tail": "follow', '    "count": "count the trials of an experiment",\n'),
    ],
}  # fmt: skip
"""What each addition takes: the file, the text before which lines come ("" for a new file), and the lines."""

OPTION_IN_USE = """
import json, sys
from overtone import tune

def train(config):
    tune.report({"loss": 1})

config = tune.RunConfig(storage_path=sys.argv[1], name="exp", verbose=0, engine="inline", greeting="good morning")
tune.Tuner(train, run_config=config).fit()
folder = sys.argv[1] + "/exp"
print(json.loads(open(folder + "/journal.jsonl").readline().rpartition(",")[0] + "}")["parts"]["options"]["greeting"])
tune.Tuner.restore(folder, train).fit()
tune.run(train, storage_path=sys.argv[1], name="exp", verbose=1, engine="inline", resume=True, greeting="good night")
print("The first word of a run." in tune.run.__doc__, tune.RunConfig.__doc__.count("greeting:"))
"""

OTHERS_IN_USE = """
import json, sys
from overtone import tune
from overtone.tune.schedulers import StopBelow

def train(config):
    for t in range(4):
        tune.report({"score": config["x"] - t})

scheduler = tune.create_scheduler("stop_below", threshold=1)
assert type(scheduler) is StopBelow
found = tune.run(
    train, config={"x": tune.grid_search([1, 2, 9])}, metric="score", mode="max", scheduler=scheduler,
    storage_path=sys.argv[1], name="new", verbose=0, engine="inline",
)
n_results = [trial.last_result["training_iteration"] for trial in found.trials]
starts = open(sys.argv[1] + "/new/starts.txt").read().split()
print(json.dumps([n_results, starts == [trial.trial_id for trial in found.trials]]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a copy of the package, and one commit for each addition."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    git(tree, "init", "-q")
    commit(tree, "package")
    for name, changes in ADDITIONS.items():
        for file, before, text in changes:
            path = tree / "src/overtone" / file
            if before:
                old = path.read_text("utf-8")
                assert old.count(before) == 1, f"{file}: {before}"
                text = old.replace(before, f"{text}{before}")
            path.write_text(text, "utf-8")
        if name == "option":
            python(tree, str(HERE / "option_tables.py"))
        commit(tree, name)
    return tree


def git(tree: Path, *command: str) -> str:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *command], cwd=tree, capture_output=True, text=True, check=True
    ).stdout


def commit(tree: Path, name: str) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", name)


def python(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=tree, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_touches_few_files(tree, name):
    files = git(tree, "log", "--format=", "--name-only", f"--grep=^{name}$").split()
    assert 0 < len(files) <= MOST_FILES


def test_a_new_option_works(tree, tmp_path):
    done = python(tree, "-c", OPTION_IN_USE, str(tmp_path))
    printed = [line for line in done.stdout.split("\n") if line.startswith(("good", "True"))]
    assert printed == ["good morning", "good morning", "good morning", "good night", "True 1"]
    assert "greeting: 'good morning' -> 'good night' (taken at once)" in done.stderr


def test_the_other_additions_work(tree, tmp_path):
    done = python(tree, "-c", OTHERS_IN_USE, str(tmp_path))
    assert json.loads(done.stdout.splitlines()[-1]) == [[2, 3, 4], True]
    assert "trials run one after the other" in done.stderr
    assert python(tree, "-m", "overtone", "count", str(tmp_path / "new")).stdout == "3\n"
    assert "count the trials" in python(tree, "-m", "overtone", "--help").stdout
