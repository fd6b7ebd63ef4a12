"""A disk that is full for a while: saving waits for room, one line says so, and nothing is lost.

The disk is a tmpfs, which only root may mount; as another user the tests are skipped, in CI they fail.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from overtone import tune
from overtone.errors import StorageError
from overtone.journal.reader import read

TRIALS, LENGTH, FULL_S = 4, 40, 2.5


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m,nr_inodes=3000", "overtone-test", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        if os.environ.get("CI") == "true":
            pytest.fail(f"a small disk cannot be mounted: {done.stderr}")
        pytest.skip("a small disk needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def take_bytes(disk: Path) -> None:
    with open(disk / "ballast", "wb", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2


def take_inodes(disk: Path) -> None:
    (disk / "ballast.d").mkdir()
    for number in range(10_000):
        try:
            (disk / "ballast.d" / str(number)).touch()
        except OSError:
            return


def give_back(disk: Path) -> None:
    subprocess.run(["rm", "-rf", str(disk / "ballast"), str(disk / "ballast.d")], check=True)


def function(config: dict[str, Any]) -> None:
    saved = tune.get_checkpoint()
    first = json.loads(Path(saved.path, "state").read_text().strip()) if saved is not None else 0
    for t in range(first + 1, LENGTH + 1):
        time.sleep(0.05)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "state").write_text(json.dumps(t) + " " * 20_000)
            tune.report({"loss": t}, checkpoint=tune.Checkpoint.from_directory(folder))


def paper(tune: Any) -> None:
    for t in range(1, LENGTH + 1):
        time.sleep(0.05)
        tune.report(loss=t)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "state").write_text(json.dumps(t) + " " * 20_000)
            tune.record_checkpoint(folder)


def talker(config: dict[str, Any]) -> None:
    for t in range(1, LENGTH + 1):
        time.sleep(0.05)
        print(t, "." * 1000)
        print(t, "." * 1000, file=sys.stderr)
        tune.report(loss=t)


def old(config: dict[str, Any]) -> None:
    for t in range(1, LENGTH + 1):
        time.sleep(0.05)
        with tune.checkpoint_dir(t) as folder:
            Path(folder).is_dir()
        tune.report(loss=t)


INTERRUPTED = """
import json, tempfile, time
from pathlib import Path
from overtone import tune

def function(config):
    for t in range(1, 100_000):
        time.sleep(0.05)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "state").write_text(json.dumps(t) + " " * 20_000)
            tune.report({{"loss": t}}, checkpoint=tune.Checkpoint.from_directory(folder))

class Steps(tune.Trainable):
    def setup(self, config):
        self.t = 0

    def step(self):
        time.sleep(0.05)
        self.t += 1
        return {{"loss": self.t}}

    def save_checkpoint(self, folder):
        Path(folder, "state").write_bytes(b"0" * 20_000)

    def load_checkpoint(self, folder):
        pass

tune.run(
    Steps if "{kind}" == "class" else function, config={{"x": tune.uniform(0, 1)}}, num_samples=2, name="exp",
    storage_path="{storage}", metric="loss", mode="max", resources_per_trial={{"cpu": 0.1}}, verbose=1,
    **({{"checkpoint_freq": 1}} if "{kind}" == "class" else {{}}),
)
"""


class Steps(tune.Trainable):
    def setup(self, config: dict[str, Any]) -> None:
        self.t = 0

    def step(self) -> dict[str, Any]:
        time.sleep(0.05)
        self.t += 1
        return {"loss": self.t, "done": self.t == LENGTH}

    def save_checkpoint(self, checkpoint_dir: str) -> None:
        try:
            with open(Path(checkpoint_dir, "state"), "wb", buffering=0) as file:
                data = b"0" * 20_000
                if file.write(data) < len(data):
                    raise OSError(28, "No space left on device")
        except OSError as error:  # as PyTorch does
            raise RuntimeError("file write failed") from (error if self.t % 2 else None)

    def load_checkpoint(self, checkpoint: str) -> None:
        raise AssertionError("no trial begins again")


def search(
    disk: Path, trainable: Any, take: Callable[[Path], None], seconds: float = FULL_S, **options: Any
) -> Any:
    """Run trials on the disk, which is full for a while once all have begun."""

    def fill() -> None:
        journal = disk / "exp" / "journal.jsonl"
        give_up_at = time.monotonic() + 90
        while time.monotonic() < give_up_at:
            if journal.exists() and journal.read_text().count('"e":"reported"') > 3 * TRIALS:
                break
            time.sleep(0.02)
        take(disk)
        time.sleep(seconds)
        give_back(disk)

    filler = threading.Thread(target=fill)
    filler.start()
    try:
        return tune.run(
            trainable, config={"x": tune.uniform(0, 1)}, num_samples=TRIALS, storage_path=disk, name="exp",
            metric="loss", mode="max", resources_per_trial={"cpu": 0.1}, raise_on_failed_trial=False, verbose=1,
            **options,
        )  # fmt: skip
    finally:
        filler.join()


def all_is_there(disk: Path, found: Any, n_attempts: int = TRIALS) -> None:
    assert [trial.status for trial in found.trials] == ["TERMINATED"] * TRIALS, [
        t.error for t in found.trials
    ]
    records = [record.event for record in read(disk / "exp" / "journal.jsonl")]
    assert sum(type(event).__name__ == "Started" for event in records) == n_attempts
    for trial in found.trials:
        mine = [event for event in records if getattr(event, "trial_id", "") == trial.trial_id]
        assert [event.t for event in mine if type(event).__name__ == "Reported"] == list(range(1, LENGTH + 1))
        lines = (disk / "exp" / trial.trial_id / "result.json").read_text().splitlines()
        assert [json.loads(line)["training_iteration"] for line in lines] == list(range(1, LENGTH + 1))
        table = (disk / "exp" / trial.trial_id / "progress.csv").read_text().splitlines()
        assert len(table) == LENGTH + 1
    assert not [path for path in disk.rglob(".*") if path.name.startswith((".put-", ".saving_"))]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("take", [take_bytes, pytest.param(take_inodes, marks=pytest.mark.full)])
@pytest.mark.parametrize(
    ("trainable", "options"),
    [
        (function, {}),
        (function, {"log_to_file": True}),
        (paper, {}),
        (old, {}),
        (Steps, {"checkpoint_freq": 1}),
    ],
    ids=["function", "to file", "paper", "checkpoint_dir", "class"],
)
def test_saving_waits_for_room(disk, capfd, trainable, options, take) -> None:
    found = search(disk, trainable, take, keep_checkpoints_num=LENGTH, **options)
    all_is_there(disk, found)
    said = "".join(capfd.readouterr())
    assert said.count("no room to save") == 1, said
    assert "disconnected" not in said
    kept = list(disk.glob("exp/*/checkpoint_*"))
    assert len(kept) == TRIALS * LENGTH


@pytest.mark.timeout(300)
def test_what_a_trial_prints_into_a_file_waits_for_room(disk) -> None:
    found = search(disk, talker, take_bytes, log_to_file=True)
    all_is_there(disk, found)
    for trial in found.trials:
        for name in ("stdout", "stderr"):
            lines = (disk / "exp" / trial.trial_id / name).read_text().splitlines()
            assert [line.split()[0] for line in lines if line[0].isdigit()] == [
                str(t) for t in range(1, LENGTH + 1)
            ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("take", [take_bytes, pytest.param(take_inodes, marks=pytest.mark.full)])
def test_an_automatic_checkpoint_is_left_out(disk, capfd, take, monkeypatch) -> None:
    from overtone.worker.checkpoints.saving_rule import SavingRule

    monkeypatch.setattr(SavingRule, "first_s", 0.1)
    found = search(disk, Steps, take, log_to_file=True)
    all_is_there(disk, found)
    said = "".join(capfd.readouterr())
    assert "disconnected" not in said


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ["class", "function"])
def test_ctrl_c_does_not_wait_for_room(disk, tmp_path, kind) -> None:
    """The disk stays full: the run ends in some seconds, and says what is not saved."""
    script, journal = tmp_path / "train.py", disk / "exp" / "journal.jsonl"
    script.write_text(INTERRUPTED.format(kind=kind, storage=str(disk)))
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        try:
            give_up_at = time.monotonic() + 90
            while time.monotonic() < give_up_at:
                if journal.exists() and journal.read_text().count('"e":"reported"') > 8:
                    break
                time.sleep(0.02)
            take_bytes(disk)
            time.sleep(2.0)
            run.send_signal(signal.SIGINT)
            said, _ = run.communicate(timeout=90)  # while there is no room
            left = list(disk.rglob("*.new"))
        finally:
            run.kill()
            give_back(disk)
    # the page that the journal ends in may have room for the last records
    assert "could not be written before the end" in said or "2 PAUSED" in said, said
    assert "overtone resume" in said, said
    assert "overtone/run/" not in said, said  # none of Overtone's frames
    is_lost = "could not be written before the end" in said
    assert ("Traceback" in said) <= is_lost, said
    assert said.count("cannot be written: No space left on device") <= 1 + is_lost, said
    assert left == []


def test_a_study_waits_for_room_and_a_request_without_a_driver_is_refused(disk: Path) -> None:
    def fill() -> None:
        with open(disk / "fill", "wb", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    options: dict[str, Any] = {
        "metric": "loss", "mode": "min", "storage_path": str(disk), "name": "study", "files": False,
    }  # fmt: skip
    space = {"x": tune.uniform(0, 1)}
    with tune.ask_tell(space, **options) as study:
        trial = study.ask()
        assert trial is not None
        trial.report(0.5)
        fill()
        # More than the rest of the journal's last page: it waits for room.
        reporter = threading.Thread(target=trial.report, args=({"loss": 0.4, "text": "y" * 20_000},))
        reporter.start()
        reporter.join(1.0)
        assert reporter.is_alive()
        (disk / "fill").unlink()
        reporter.join(60)
        assert not reporter.is_alive()
    fill()
    journal = study.folder / "journal.jsonl"
    before = journal.read_bytes()
    with pytest.raises(StorageError, match="No space left"):
        tune.attach(study.folder).note("z" * 9_000)
    assert journal.read_bytes() == before
    (disk / "fill").unlink()
    tune.attach(study.folder).note("there is room")
    with tune.ask_tell(space, **options, resume=True) as study:
        again = study.ask()
        assert again is not None
        assert (again.trial_id, again.resumed_at) == (trial.trial_id, 2)
        study.tell(again, 0.3)
    assert [row["loss"] for row in study.trials[0].results()] == [0.5, 0.4, 0.3]
