"""Agents of a sweep whose results are at a URL: real processes, and an S3 server on the loopback."""

import json
import os
import time

import pytest

from overtone import tune
from overtone.program.shared_place import AGENTS
from overtone.store.files import RemoteFiles
from tests.integrations.programs import await_that, begun, overtone, processes_with

pytestmark = pytest.mark.filterwarnings("ignore")  # of the server and its client

if os.environ.get("CI") != "true":
    pytest.importorskip("moto.server", reason='pip install "moto[server]" s3fs')
    pytest.importorskip("s3fs")

PROGRAM = """
import json, os, sys, time

path = os.path.join(os.environ["OVERTONE_CHECKPOINT_DIR"], "state.json")
state = json.load(open(path)) if os.path.exists(path) else {"t": 0}
began = state["t"]
while state["t"] < 6:
    state["t"] += 1
    while state["t"] == 4 and not os.path.exists("may_end"):
        time.sleep(0.02)
    with open(path, "w") as file:
        json.dump(state, file)
    print(f"loss={float(sys.argv[1]) / state['t']} t={state['t']} began={began}")
"""
"""It saves after each result, and waits after three of them until there is a file `may_end`."""


class Project:
    """A folder with a program, and a sweep of it at a URL."""

    def __init__(self, folder, url, n):
        self.folder, self.url, self.processes = folder, url, []
        (folder / "train.py").write_text(PROGRAM)
        sweep = {
            "method": "grid",
            "metric": {"name": "loss"},
            "parameters": {"lr": {"values": list(range(n))}},
        }
        (folder / "s.json").write_text(json.dumps(sweep))

    def drive(self, *options):
        """Begin the sweep, and return its driver once its agents can join."""
        words = ("sweep", "s.json", "--dir", self.url, *options, "--", "python", "train.py", "{lr}")
        driver = self._begin("driver", *words)
        await_that(
            lambda: (self.folder / "driver.txt").stat().st_size and self.place(), "the begin of the sweep"
        )
        return driver

    def place(self):
        """Return the URL of the sweep; "" before it begins."""
        found = {name.split("/")[0] for name in RemoteFiles(self.url).sizes() if f"/{AGENTS}/driver" in name}
        assert len(found) < 2
        return f"{self.url}/{found.pop()}" if found else ""

    def join(self, name):
        return self._begin(name, "sweep", "--agent", self.place(), "--cpus", "1")

    def said(self, name):
        return (self.folder / f"{name}.txt").read_text()

    def programs(self):
        return processes_with(f"OVERTONE_EXPERIMENT={self.place().rpartition('/')[2]}")

    def are_three(self, n_trials):
        """Return whether the driver has the third result of so many trials, and its checkpoint.

        The line that the program printed is not enough: the driver shows it before it has the result.
        """
        if self.said("driver").count("t=3 ") < n_trials:
            return False
        return [len(results) for results in self.trials().values()].count(3) >= n_trials

    def let_end(self):
        (self.folder / "may_end").touch()

    def trials(self):
        """Return the results of each trial: from the URL alone, as another machine reads them."""
        found = tune.ExperimentAnalysis(self.place()).trials
        return {trial.config["lr"]: list(trial.results()) for trial in found}

    def _begin(self, name, *words):
        self.processes.append(begun(*words, cwd=self.folder, output=self.folder / f"{name}.txt"))
        return self.processes[-1]


@pytest.fixture
def project(tmp_path, url):
    made = []

    def make(n):
        made.append(Project(tmp_path, url, n))
        return made[0]

    yield make
    for process in made[0].processes:
        process.kill()
        process.wait()


def check(project, n):
    """Check that each trial has its results once, and that nothing is left."""
    found = project.trials()
    assert sorted(found) == list(range(n))
    for lr, results in found.items():
        assert [one["t"] for one in results] == [*range(1, 7)]
        assert [one["loss"] for one in results] == [pytest.approx(lr / t) for t in range(1, 7)]
    await_that(lambda: not project.programs(), "the end of all programs")
    left = RemoteFiles(project.place()).sizes(AGENTS)
    assert not [name for name in left if "/tasks/" in name]


def test_two_agents_that_begin_at_once_share_a_sweep_and_a_killed_one_loses_no_trial(project):
    sweep = project(3)
    driver = sweep.drive("--agents-only")
    one, two = sweep.join("one"), sweep.join("two")
    await_that(lambda: len(sweep.programs()) >= 2, "two trials at once")
    await_that(lambda: sweep.are_three(2), "three results of two trials")
    one.kill()
    one.wait()
    sweep.let_end()
    assert driver.wait(300) == 0
    assert two.wait(120) == 0
    begun_at = [sweep.said(name).count(": begins") for name in ("one", "two")]
    assert begun_at[0] >= 1
    assert sum(begun_at) == 4  # three trials, and one of them twice
    check(sweep, 3)
    again = [results for results in sweep.trials().values() if results[-1]["began"]]
    assert [one[-1]["began"] for one in again] == [3]  # from its last checkpoint
    assert "the sweep has ended" in sweep.said("two")


@pytest.mark.full
def test_a_sweep_waits_for_agents_and_for_the_storage(project, server):
    """Its only agent is killed; another one joins; then the storage is away for a time."""
    sweep = project(1)
    driver = sweep.drive("--agents-only")
    assert f"overtone sweep --agent {sweep.place()}" in sweep.said("driver")
    one = sweep.join("one")
    await_that(lambda: sweep.are_three(1), "three results")
    one.kill()
    await_that(lambda: not sweep.programs(), "the end of the killed agent's program")
    two = sweep.join("two")
    await_that(lambda: ": begins" in sweep.said("two"), "the trial's second attempt")
    await_that(sweep.programs, "its program")
    server.stop()
    try:
        sweep.let_end()
        time.sleep(8)  # the outage is what is tested
    finally:
        server.start()
    assert (driver.wait(300), two.wait(120)) == (0, 0)
    check(sweep, 1)


@pytest.mark.full
def test_agents_that_join_as_the_last_trial_ends(project):
    sweep = project(2)
    sweep.let_end()
    driver = sweep.drive("--max-concurrent", "1")
    agents = []
    while driver.poll() is None:
        if len(agents) < 5:
            agents.append(sweep.join(f"agent{len(agents)}"))
        time.sleep(2.0)
    assert driver.wait() == 0
    agents.append(sweep.join(f"agent{len(agents)}"))  # after the end
    for number, agent in enumerate(agents):
        assert agent.wait(120) == 0
        assert "the sweep has ended" in sweep.said(f"agent{number}")
    check(sweep, 2)
    assert "2 done; 12 results" in overtone("show", sweep.place(), cwd=sweep.folder).stdout
