"""Pipes, devices, sockets, folders and links in the places of an experiment's files.

Whatever reads them ends soon: with an error that says what lies there, or without reading it.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from overtone import tune
from overtone.analysis import ExperimentAnalysis
from overtone.cli import main
from overtone.core.goal import Goal
from overtone.core.messages import (
    Added,
    CapacityChanged,
    Ended,
    Moved,
    Record,
    Reported,
    Saved,
    Started,
    Suggested,
)
from overtone.core.resources import Resources
from overtone.core.types import Checkpoint
from overtone.errors import OvertoneError
from overtone.journal.header import new_header
from overtone.journal.lock import is_locked
from overtone.journal.reader import follow, read
from overtone.journal.writer import JournalWriter
from overtone.observers.projections import rebuild, reconcile
from overtone.run.resume.target import header_of, is_begun, is_finished
from overtone.run.warm_start import _read as read_earlier
from overtone.store.cache import origin
from overtone.store.local import LocalStore
from overtone.worker.checkpoints.checkpoint import Checkpoint as UserCheckpoint
from overtone.worker.checkpoints.saving import opened
from overtone.worker.limits.limit_usage import TALLY, UsageFile

JOURNAL = "journal.jsonl"
TRIAL = "358bb_00000"
CHECKPOINT = f"{TRIAL}/checkpoint_000002"
SOON_S = 2.0
KINDS: dict[str, Callable[[Path], None]] = {
    "a named pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
    "a socket": lambda path: bind(path),
}


def bind(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # a socket's name may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(path.name)
    finally:
        os.chdir(before)


@contextmanager
def ends_soon() -> Iterator[None]:
    """Whoever waits for a pipe, or reads a device, is stopped."""

    def stop(*_: object) -> None:
        raise AssertionError(f"it took more than {SOON_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    limit_of_test = signal.setitimer(signal.ITIMER_REAL, SOON_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *limit_of_test)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "experiment"
    folder.mkdir()
    saved = tmp_path / "state"
    saved.mkdir()
    (saved / "model.bin").write_bytes(b"weights")
    uri = LocalStore(folder, durable=False).put(saved, CHECKPOINT)
    config = {"x": 0.5}
    parts = {
        "name": "train", "metric": ["loss"], "mode": ["min"], "options": {"num_samples": 1, "fail_fast": False, "durability": "interval"}, "checkpoints": {}, "space": {},
        "scheduler": None, "searcher": None, "stop": None, "limits": {},
    }  # fmt: skip
    writer = JournalWriter(folder / JOURNAL, new_header(1, parts))
    told = [
        (CapacityChanged(0.0, {"a": {"cpu": 1.0}}),),
        (Suggested(0.0, 0, config), Added(TRIAL, 0, config, Resources.of({"cpu": 1}), "0"), Moved(TRIAL, "STARTING", 0)),
        (Started(0.0, TRIAL, 0, "a", 7), Moved(TRIAL, "RUNNING", 0)),
        (Reported(1.0, TRIAL, 0, 2, {"loss": 0.5, "training_iteration": 2}),),
        (Saved(1.0, TRIAL, 0, Checkpoint(TRIAL, 2, uri)),),
        (Ended(2.0, TRIAL, 0, "returned"), Moved(TRIAL, "TERMINATED", 0)),
    ]  # fmt: skip
    writer.append([Record(n, event, tuple(choices)) for n, (event, *choices) in enumerate(told, 2)])
    writer.close()
    return folder


def train(config: dict) -> None:
    """Never run here."""


def mend(folder: Path) -> None:
    for observer in reconcile(folder, tensorboard=False):
        observer.close()


def command(*words: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        code = main([words[0], str(folder), *words[1:]])
        if code:
            raise OvertoneError(f"exit code {code}")

    return run


READERS: dict[str, Callable[[Path], object]] = {
    "ExperimentAnalysis": lambda folder: ExperimentAnalysis(folder).trials,
    "results_df": lambda folder: ExperimentAnalysis(folder).results_df,
    "Tuner.restore": lambda folder: tune.Tuner.restore(folder, trainable=train).get_results(),
    "Tuner.can_restore": tune.Tuner.can_restore,
    "header": header_of,
    "read": lambda folder: list(read(folder / JOURNAL)),
    "follow": lambda folder: list(follow(folder / JOURNAL, lambda: True)),
    "is_begun": is_begun,
    "is_finished": is_finished,
    "is_locked": lambda folder: is_locked(folder / "journal.jsonl.lock"),
    "origin": origin,
    "rebuild": rebuild,
    "reconcile": mend,
    "warm start": lambda folder: list(read_earlier(folder, Goal("loss", "min"))),
    "warm start from Ray Tune": lambda folder: list(read_earlier(folder.parent, Goal("loss", "min"))),
    "resume": lambda folder: JournalWriter.open_for_append(folder / JOURNAL, {}).close(),
    "store": lambda folder: LocalStore(folder).get(str(folder / CHECKPOINT)),
    "restored": lambda folder: opened(folder / CHECKPOINT),
    "to_dict": lambda folder: UserCheckpoint(str(folder / CHECKPOINT)).to_dict(),
    "limits": lambda folder: UsageFile(str(folder)).read(),
    "metadata": lambda folder: UserCheckpoint(str(folder / CHECKPOINT)).get_metadata(),
    "put": lambda folder: LocalStore(folder.parent / "other", durable=False).put(folder / CHECKPOINT, "x"),
    **{name: command(name) for name in ("ls", "show", "tail", "best", "why", "export")},
    "ls below": lambda folder: main(["ls", str(folder.parent)]),
    "why trial": command("why", TRIAL),
}
MUST_RAISE = {
    JOURNAL: {
        "ExperimentAnalysis", "results_df", "Tuner.restore", "header", "read", "rebuild", "reconcile",
        "warm start", "resume", "show", "tail", "why trial", "export", "best",
    },
    f"{CHECKPOINT}/.manifest.json": {"store", "put"},
    f"{CHECKPOINT}/model.bin": {"store", "put"},
}  # fmt: skip
PLACES = [
    "journal.jsonl.lock", TALLY, "driver.json", ".url", "snapshot.json", "overview.json", "result.json",
    f"{TRIAL}/result.json", f"{TRIAL}/progress.csv", f"{TRIAL}/params.json", f"{TRIAL}/error.txt", f"{CHECKPOINT}/.manifest.json",
    f"{CHECKPOINT}/model.bin", f"{CHECKPOINT}/.overtone.json", f"{CHECKPOINT}/data.json", f"{CHECKPOINT}/data.pkl",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("place", "kind"), [
    *((JOURNAL, kind) for kind in KINDS),
    *((place, kind) for place in PLACES for kind in ("a named pipe", "a device")),
])  # fmt: skip
def test_what_is_no_regular_file_is_not_read(folder, place, kind, capsys, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent / "cache"))
    path = folder / place
    for name, reader in READERS.items():
        if path.is_file():
            path.unlink()
        if not os.path.lexists(path):
            path.parent.mkdir(exist_ok=True)
            KINDS[kind](path)
        try:
            with ends_soon():
                reader(folder)
        except (OvertoneError, OSError) as error:
            assert isinstance(error, OvertoneError), f"{name}: {error!r}"
            is_told = kind in str(error) or "exit code" in str(error)
            assert is_told or place != JOURNAL or name not in MUST_RAISE[place], f"{name}: {error}"
        else:
            assert name not in MUST_RAISE.get(place, ()), name


def test_a_link_to_a_regular_file_is_read(folder) -> None:
    journal = folder / JOURNAL
    journal.rename(folder.parent / "elsewhere.jsonl")
    journal.symlink_to(folder.parent / "elsewhere.jsonl")
    assert len(ExperimentAnalysis(folder).trials) == 1
    assert header_of(folder)["seed"] == 1
