"""Clusters that are jobs of a real Slurm on this machine: a login node and two nodes in namespaces."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.launcher.slurm_here import HOME, SlurmHere, slurm_cluster

pytestmark = pytest.mark.full

N_TRIALS, STEPS, HELD_AT = 4, 12, 4

CONFIG = """
name: {name}
provider: {{type: slurm, partition: {partition}}}
head: cpus={cpus},memory=2G
workers: {{min: {workers}, max: {workers}}}
files: project
setup:
- {setup}
limits: {{cluster_idle: {idle}, hours: 1}}
"""

SCRIPT = f"""
import os, socket, sys, time
from pathlib import Path
from overtone import tune

class Steps(tune.Trainable):
    def setup(self, config):
        self.n = 0
    def step(self):
        self.n += 1
        time.sleep(float(sys.argv[2]))
        while self.n == {HELD_AT} and not os.path.exists("go-" + sys.argv[1]):
            time.sleep(0.05)
        return {{"n": self.n, "loss": -self.n, "host": socket.gethostname(), "setup": os.environ["FROM_SETUP"],
                "done": self.n >= {STEPS}}}
    def save_checkpoint(self, folder):
        Path(folder, "n").write_text(str(self.n))
    def load_checkpoint(self, folder):
        self.n = int(Path(folder, "n").read_text())

if __name__ == "__main__":
    os.chdir(os.environ["HOME"])  # where the test makes go-NAME
    tune.run(Steps, num_samples={N_TRIALS}, checkpoint_freq=int(sys.argv[3]), metric="loss", mode="min", name=sys.argv[1],
             resources_per_trial={{"cpu": 1}}, resume="AUTO" if "AUTO" in sys.argv else None, chdir_to_trial_dir=False)
"""

LAUNCH = """
import sys
from pathlib import Path
from overtone.cluster.config_reading import read_config
from overtone.cluster.progress import Progress
from overtone.cluster.provider_modules import provider_of
from overtone.cluster.state import State
from overtone.errors import OvertoneError

verb, path, *rest = sys.argv[1:]
config = read_config(Path(path))
provider, state, progress = provider_of(config), State.open(config), Progress()
try:
    provider.check(config)
    if verb == "find":
        for one in provider.find(config):
            print(one.kind, one.id, one.state)
    elif verb == "begin":
        provider.reach(config, state).begin(*rest)
    elif verb == "run":
        finished = provider.reach(config, state).run(*rest, input=b"in\\n")
        print(finished.text)
        sys.exit(finished.status)
    elif verb in ("start", "start_for_run"):
        provider.start(config, state, progress, verb == "start_for_run")
    else:
        provider.stop(config, state, progress)
except OvertoneError as error:
    sys.exit(f"error: {error}")
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmHere]:
    with slurm_cluster() as made:
        (made.home / ".bash_profile").write_text(f"export PATH={Path(sys.executable).parent}:$PATH\n")
        (made.home / "launch.py").write_text(LAUNCH)
        (made.home / "script.py").write_text(SCRIPT)
        (made.home / "project").mkdir()
        (made.home / "project" / "search.py").write_text(SCRIPT)
        yield made


def write_config(slurm: SlurmHere, name: str, **values: Any) -> str:
    """Write a config, and return its name for commands on the login node."""
    known = {"partition": "small", "cpus": 2, "workers": 1, "setup": "export FROM_SETUP=yes", "idle": "5m"}
    (slurm.home / f"{name}.yaml").write_text(CONFIG.format(name=name, **{**known, **values}))
    return f"{name}.yaml"


def launch(slurm: SlurmHere, *words: str, status: int = 0) -> str:
    return slurm.run(sys.executable, "launch.py", *words, status=status)


def overtone(slurm: SlurmHere, *words: str, status: int = 0) -> str:
    return slurm.run(sys.executable, "-m", "overtone", *words, status=status)


def begin_search(slurm: SlurmHere, config: str, name: str, step_s: float = 0.0, freq: int = 1) -> None:
    """Let the job run a search, whose trials are held at a step until the file `go-NAME` is there."""
    launch(slurm, "begin", config, f"exec python script.py {name} {step_s} {freq} AUTO >> {name}.out 2>&1")


def results(slurm: SlurmHere, name: str) -> dict[str, list[dict[str, Any]]]:
    """Return all results in the journal's projections, by trial."""
    return {
        path.parent.name: [json.loads(line) for line in path.read_text().splitlines()]
        for path in (slurm.home / "overtone_results" / name).glob("*/result.json")
    }


def hosts_of(slurm: SlurmHere, name: str) -> set[str]:
    return {one["host"] for some in results(slurm, name).values() for one in some}


def journal(slurm: SlurmHere, name: str) -> bytes:
    """Return the whole lines of a journal."""
    try:
        text = (slurm.home / "overtone_results" / name / "journal.jsonl").read_bytes()
    except FileNotFoundError:
        return b""
    return text[: text.rfind(b"\n") + 1]


def reported(slurm: SlurmHere, name: str) -> int:
    return journal(slurm, name).count(b'"e":"reported"')


def log(slurm: SlurmHere, name: str) -> str:
    return (slurm.home / f".overtone/slurm/{name}/log").read_text()


def job_of(slurm: SlurmHere, name: str) -> str:
    return slurm.run("squeue", "-h", "-o", "%i", f"--name=overtone-{name}").strip()


def everything_readable(slurm: SlurmHere, job: str) -> str:
    """Return what other users can see of a job, and its logs."""
    shown = [
        slurm.run("scontrol", "show", "job", "-dd", job),
        slurm.run("scontrol", "show", "steps", status=None),
    ]
    shown += ["\n".join(host.output("ps", "axeww", "-o", "args=").splitlines()) for host in slurm.hosts]
    files = [
        *slurm.disk.glob("slurm/*.log"),
        *slurm.home.glob("*.out"),
        *slurm.home.glob(".overtone/slurm/*/log"),
    ]
    return "\n".join([*shown, *(path.read_text(errors="replace") for path in files)])


def check_results(slurm: SlurmHere, name: str) -> None:
    """Wait until the files have what the journal has, and check that each result is there once."""
    slurm.wait(lambda: sum(map(len, results(slurm, name).values())) >= N_TRIALS * STEPS, "all results")
    found = results(slurm, name)
    assert len(found) == N_TRIALS
    for some in found.values():
        assert [one["n"] for one in some] == list(range(1, STEPS + 1)), "nothing is missing, nothing doubled"
        assert {one["setup"] for one in some} == {"yes"}


def is_over(slurm: SlurmHere, name: str) -> bool:
    return b'"e":"end"' in journal(slurm, name)


def test_a_submitted_run_resumes_after_a_requeue(slurm: SlurmHere) -> None:
    config = write_config(slurm, "digits")
    assert "#SBATCH --job-name=overtone-digits" in overtone(slurm, "plan", config, "--show")
    assert "2 nodes: node1, node2" in overtone(slurm, "up", config)
    job = job_of(slurm, "digits")
    assert launch(slurm, "find", config) == f"job {job} running\n"
    overtone(slurm, "up", config)
    assert job_of(slurm, "digits") == job, "a second start changes nothing"
    assert launch(slurm, "run", config, "hostname; cat; exit 7", status=7) == "node1\nin\n"

    submitted = slurm.begin(
        sys.executable, "-m", "overtone", "submit", config, "project/search.py", "--", "digits", "0", "1"
    )
    slurm.wait(lambda: reported(slurm, "digits") == N_TRIALS * (HELD_AT - 1), "all trials are held")
    slurm.wait(lambda: hosts_of(slurm, "digits") == {"node1", "node2"}, "both nodes have results")
    token = (slurm.home / ".overtone/slurm/digits/token").read_text().strip()
    assert (slurm.home / ".overtone/slurm/digits/token").stat().st_mode & 0o777 == 0o600
    assert token not in everything_readable(slurm, job)

    before = journal(slurm, "digits")
    slurm.run("scontrol", "requeue", job)
    (slurm.home / "go-digits").touch()
    output, _ = submitted.communicate(timeout=300)
    assert submitted.returncode == 0, output
    assert "4 TERMINATED" in output
    assert token not in output
    assert job_of(slurm, "digits") == job
    assert journal(slurm, "digits").startswith(before), "nothing is lost"
    check_results(slurm, "digits")

    assert "nothing is left" in overtone(slurm, "down", config)
    assert launch(slurm, "find", config) == ""
    assert slurm.processes() == {"node1": [], "node2": []}
    assert slurm.left_in_tmp() == {"node1": [], "node2": []}


def test_a_warned_job_saves_and_is_queued_again(slurm: SlurmHere) -> None:
    config = write_config(slurm, "warned", workers=0)
    launch(slurm, "start", config)
    job = job_of(slurm, "warned")
    (slurm.home / "go-warned").touch()
    begin_search(slurm, config, "warned", step_s=0.5, freq=0)
    slurm.wait(lambda: reported(slurm, "warned") >= 3, "trials report")
    slurm.run("scancel", "--signal=USR1", "--batch", job)  # as before its time limit
    slurm.wait(lambda: "queued again" in log(slurm, "warned"), "the job is queued again")
    assert not is_over(slurm, "warned")
    slurm.wait(lambda: is_over(slurm, "warned"), "the search ends", 240)
    assert job_of(slurm, "warned") == job
    check_results(slurm, "warned")
    assert reported(slurm, "warned") == N_TRIALS * STEPS, "all trials had saved: no step was done again"
    launch(slurm, "stop", config)


def test_two_jobs_on_the_same_nodes_do_not_meet(slurm: SlurmHere) -> None:
    names = ("one", "two")
    configs = {name: write_config(slurm, name, cpus=1) for name in names}
    started = [slurm.begin(sys.executable, "launch.py", "start", config) for config in configs.values()]
    for process in started:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
    for name, config in configs.items():
        begin_search(slurm, config, name)
    slurm.wait(
        lambda: all(reported(slurm, name) == 2 * (HELD_AT - 1) for name in names), "two trials each are held"
    )
    heads = [json.loads((slurm.home / f".overtone/slurm/{name}/head.json").read_text()) for name in names]
    assert [head["nodes"] for head in heads] == [["node1", "node2"]] * 2
    assert heads[0]["address"] != heads[1]["address"]
    tokens = {(slurm.home / f".overtone/slurm/{name}/token").read_text() for name in names}
    assert len(tokens) == 2

    launch(slurm, "stop", configs["one"])
    (slurm.home / "go-two").touch()
    slurm.wait(lambda: is_over(slurm, "two"), "the other search ends", 240)
    check_results(slurm, "two")
    launch(slurm, "stop", configs["two"])
    assert slurm.processes() == {"node1": [], "node2": []}
    assert slurm.left_in_tmp() == {"node1": [], "node2": []}


def test_a_job_ends_after_its_run_and_when_it_is_idle(slurm: SlurmHere) -> None:
    config = write_config(slurm, "brief", workers=0, idle="15s")
    launch(slurm, "start_for_run", config)
    launch(slurm, "begin", config, "echo done > brief.out")
    slurm.wait(lambda: not job_of(slurm, "brief"), "the job ends by itself")
    assert (slurm.home / "brief.out").read_text() == "done\n"
    ended = json.loads((slurm.home / ".overtone/slurm/brief/ended.json").read_text())
    assert ended["reason"] == "the run has ended"
    launch(slurm, "start", config)
    slurm.wait(lambda: not job_of(slurm, "brief"), "the idle job ends by itself")
    ended = json.loads((slurm.home / ".overtone/slurm/brief/ended.json").read_text())
    assert ended["reason"] == "idle for 15 s"
    launch(slurm, "stop", config)


def test_errors_say_what_slurm_says(slurm: SlurmHere) -> None:
    wrong = write_config(slurm, "wrong", partition="gpu")
    line = "wrong.yaml:3: provider.partition='gpu': is not a partition here; there are short, small"
    assert line in launch(slurm, "start", wrong, status=1)

    failing = write_config(slurm, "failing", setup="echo no such module; false")
    said = launch(slurm, "start", failing, status=1)
    assert "ended before Ray was up (FAILED, exit code 1:0" in said
    assert "no such module" in said
    assert "setup failed with status 1 on node1: echo no such module; false" in said

    large = write_config(slurm, "large", cpus=64)
    said = launch(slurm, "start", large, status=1)
    assert "Slurm cannot run this job (PartitionConfig): no node of the partition has what the config" in said
    assert launch(slurm, "find", large) == ""

    tools = slurm.home / "tools"
    tools.mkdir()
    for name in ("bash", "id"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    said = slurm.run(sys.executable, "launch.py", "start", large, status=1, PATH=f"{HOME}/tools")
    assert "login is not a login node of Slurm (its PATH lacks sbatch, squeue" in said


def test_a_pending_job_tells_why_and_stays(slurm: SlurmHere) -> None:
    other = slurm.run("sbatch", "--parsable", "--nodes=2", "--exclusive", "--wrap=sleep 1000").strip()
    slurm.wait(lambda: slurm.state(other) == "RUNNING", "the other job runs")
    config = write_config(slurm, "waits", workers=0)
    with slurm.begin(sys.executable, "launch.py", "start", config) as starting:
        assert starting.stdout is not None
        assert any("is pending (Resources" in line for line in starting.stdout)
        starting.kill()
    assert launch(slurm, "find", config) == f"job {job_of(slurm, 'waits')} pending\n"
    launch(slurm, "stop", config)
    assert launch(slurm, "find", config) == ""
    slurm.run("scancel", other)
