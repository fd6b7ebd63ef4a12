"""Experiments of earlier versions, one for each scheduler: today's code decides the same, and resumes them.

`NAME.zip` in the folder of a format holds two experiments: `ended` ran to its end, and the driver of
`killed` was killed in the middle. `python tests/golden/test_scheduler_journals.py --make` writes those
of the newest format that are missing.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis
from overtone.journal.formats import FORMAT
from overtone.journal.seals import sealed
from overtone.tune import schedulers

FOLDERS = {1: Path(__file__).with_name("journals"), 2: Path(__file__).with_name("journals_format_2")}
HERE = FOLDERS[FORMAT]
LONGEST = 9
HALVING: dict[str, Any] = {"max_t": LONGEST, "reduction_factor": 3}
MUTATIONS = {"x": tune.uniform(0, 1)}
POPULATION: dict[str, Any] = {"time_attr": "training_iteration", "perturbation_interval": 3}


MAKE: dict[str, Callable[[], Any]] = {
    "fifo": schedulers.FIFOScheduler,
    "asha": lambda: schedulers.ASHAScheduler(grace_period=1, brackets=2, **HALVING),
    "promote": lambda: schedulers.ASHAScheduler(grace_period=1, rule="promote", **HALVING),
    "hyperband": lambda: schedulers.HyperBandScheduler(**HALVING),
    "bohb": lambda: schedulers.HyperBandForBOHB(**HALVING),
    "halving": lambda: schedulers.SuccessiveHalving(n=9, **HALVING),
    "median": lambda: schedulers.MedianStoppingRule(
        time_attr="training_iteration", grace_period=2, min_samples_required=2
    ),
    "pasha": lambda: schedulers.PASHA(grace_period=1, **HALVING),
    "moasha": lambda: schedulers.MOASHA(grace_period=1, **HALVING),
    "auto": lambda: "auto",
    "auto_pauses": lambda: "auto",
    "pbt": lambda: schedulers.PopulationBasedTraining(
        **POPULATION, hyperparam_mutations=MUTATIONS, log_config=False
    ),
    "pbt_synch": lambda: schedulers.PopulationBasedTraining(
        **POPULATION, hyperparam_mutations=MUTATIONS, log_config=False, synch=True
    ),
    "pb2": lambda: schedulers.PB2(**POPULATION, hyperparam_bounds={"x": [0, 1]}, log_config=False),
    "dehb": lambda: schedulers.DEHB(**HALVING),
    "priorband": lambda: schedulers.PriorBand(**HALVING),
}

CHANGED = {"auto"}
"""Whose rule is another one now: "auto" pauses trials that saved, instead of stopping them."""

CASES = [
    (made, name) for made, folder in FOLDERS.items() for name in MAKE if (folder / f"{name}.zip").exists()
]


class Weight(tune.Trainable):
    """Trials whose ranks change on their way; each takes long enough for a driver to be killed in it."""

    def setup(self, config: dict[str, Any]) -> None:
        self.x, self.y, self.t = config["x"], config["y"], 0

    def step(self) -> dict[str, float]:
        self.t += 1
        time.sleep(self.config.get("pause_s", 0.0))
        return {"score": self.x * (1 - 1 / (self.t + self.y)), "cost": self.y / self.t}

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        return False

    def save_checkpoint(self, folder: str) -> None:
        Path(folder, "t.txt").write_text(str(self.t))

    def load_checkpoint(self, folder: str) -> None:
        self.t = int(Path(folder, "t.txt").read_text())


def run(folder: Path, name: str, resume: bool, pause_s: float = 0.0) -> ExperimentAnalysis:
    several: dict[str, Any] = {"metric": ["score", "cost"], "mode": ["max", "min"]}
    return tune.run(
        Weight, config={"x": tune.uniform(0, 1), "y": tune.randint(1, 5), "pause_s": pause_s}, num_samples=9,
        **(several if name == "moasha" else {"metric": "score", "mode": "max"}),
        scheduler=MAKE[name](), engine="local", resources_per_trial={"cpu": 1}, max_concurrent_trials=3,
        name=folder.name, storage_path=folder.parent, seed=7, verbose=0, tensorboard=False, resume=resume,
        stop={"training_iteration": LONGEST}, checkpoint_freq=1, keep_checkpoints_num=1, reuse_actors=True,
        log_to_file=False,
    )  # fmt: skip


@pytest.fixture(params=CASES, ids=lambda case: f"{case[1]}-format {case[0]}")
def experiments(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    made, name = request.param
    with zipfile.ZipFile(FOLDERS[made] / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    return name, tmp_path


def ends(folder: Path) -> dict[str, tuple[str, int]]:
    return {one.trial_id: (one.status, one.num_results) for one in ExperimentAnalysis(folder).trials}


def test_there_is_a_journal_of_each_scheduler() -> None:
    assert {name for made, name in CASES if made == FORMAT} == MAKE.keys()
    assert {name for made, name in CASES if made != FORMAT} >= MAKE.keys() - {"auto_pauses"}


def test_todays_code_decides_as_the_journal_says(experiments: tuple[str, Path], capfd: Any) -> None:
    name, folder = experiments
    found = [tune.verify(folder / kind) for kind in ("ended", "killed")]
    if name in CHANGED:
        assert not all(one.is_same for one in found), "leave it out of CHANGED"
    else:
        assert all(one.is_same for one in found), [one.decisions + one.suggestions for one in found]
    before = ends(folder / "ended")
    assert len(before) >= 9
    run(folder / "ended", name, resume=True)
    assert name in CHANGED or "would decide otherwise" not in capfd.readouterr().err
    assert ends(folder / "ended") == before


def test_what_was_killed_is_resumed(experiments: tuple[str, Path], capfd: Any) -> None:
    name, folder = experiments
    before = ends(folder / "killed")
    assert {status for status, _ in before.values()} - {"TERMINATED"}
    for _ in range(2):  # the second time it is of both formats
        run(folder / "killed", name, resume=True)
        assert name in CHANGED or "would decide otherwise" not in capfd.readouterr().err
    after = ends(folder / "killed")
    assert {status for status, _ in after.values()} == {"TERMINATED"}
    assert all(after[trial][1] >= results for trial, (_, results) in before.items())


def _without_the_machine(journal: Path) -> None:
    """Write the header anew, without the paths and the name of the machine that it was made on."""
    first, rest = journal.read_bytes().split(b"\n", 1)
    header = json.loads(first)
    header.update(command=["python", "train.py"], directory="/home/user", hostname="laptop", pid=1234)
    header["parts"]["main"] = "/home/user/train.py"
    del header["crc"]
    journal.write_bytes(sealed(json.dumps(header, separators=(",", ":")).encode()[:-1]) + rest)


def _make(name: str) -> None:
    root = Path(tempfile.mkdtemp(prefix="golden."))
    run(root / "ended", name, resume=False)
    lines = (root / "ended/journal.jsonl").read_bytes().count(b"\n")
    driver = subprocess.Popen([sys.executable, __file__, "--run", str(root / "killed"), name])
    journal = root / "killed/journal.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 0.6 * lines:
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    for folder in ("ended", "killed"):
        _without_the_machine(root / folder / "journal.jsonl")
    HERE.mkdir(exist_ok=True)
    with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        checkpoints = (root / "killed").glob("*/checkpoint_*/*")
        for path in (root / "ended/journal.jsonl", root / "killed/journal.jsonl", *checkpoints):
            if path.is_file():
                archive.write(path, path.relative_to(root))


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run(Path(sys.argv[2]), sys.argv[3], resume=False, pause_s=0.05)
    else:
        for each in MAKE:
            if not (HERE / f"{each}.zip").exists():
                _make(each)
