from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from overtone.core.messages import Discarded, Ended, Moved, Record, Ruled, Saved
from overtone.core.types import Checkpoint, Why
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.testing.scripted_records import Story


class Told(Story):
    """A story that is written to a journal, and goes on after that."""

    def __init__(self, folder: Path, **parts: object) -> None:
        super().__init__()
        self.folder = folder
        folder.mkdir(parents=True)
        header = new_header(seed=1, parts={"name": "train", **parts}, command=["train.py"])
        self._writer = JournalWriter(folder / "journal.jsonl", header)
        self._written = 0

    def write(self) -> Path:
        """Append what was told since; returns the experiment's folder."""
        new = self.records[self._written :]
        self._writer.append([replace(one, n=one.n + 1) for one in new])  # the header is record 1
        self._written += len(new)
        return self.folder

    def run(self, config: dict, *results: dict) -> str:
        """A trial that reports the results and ends well; returns its id."""
        trial = self.add(config)
        self.start(trial)
        for one in results:
            self.report(trial, **one)
        self.end(trial)
        return trial

    def at(self, trial: str, t: int) -> Checkpoint:
        """A checkpoint of `trial`, with a folder of that name."""
        path = self.folder / trial / f"checkpoint_{t:06d}"
        path.mkdir(parents=True, exist_ok=True)
        return Checkpoint(trial, t, str(path))

    def save(self, trial: str, t: int) -> Checkpoint:
        checkpoint = self.at(trial, t)
        self.tell(Saved(self.time, trial, self._attempts[trial], checkpoint))
        return checkpoint

    def discard(self, checkpoint: Checkpoint) -> None:
        self.tell(Discarded(self.time, checkpoint.uri))

    def restart(self, trial: str, config: dict, source: str, t: int) -> None:
        """The trial halts and waits to go on with another config, from the source's state at `t`."""
        attempt = self._attempts[trial]
        self._attempts[trial] += 1
        why = Why("pbt")
        self.records[-1] = replace(
            self.records[-1],
            choices=(Ruled(trial, t, "restart", why, config, source), Moved(trial, "HALTING", attempt)),
        )
        moved = Moved(trial, "PENDING", attempt + 1, why, config=config)
        self.tell(Ended(self.time, trial, attempt, "halted"), moved)
        self._t[trial] = t

    def fail(self, trial: str, error: str, traceback: str) -> None:
        attempt = self._attempts[trial]
        self._attempts[trial] += 1
        self.tell(
            Ended(self.time, trial, attempt, "raised", error, traceback),
            Moved(trial, "ERROR", attempt + 1, Why("raised"), error=error),
        )

    def tell(self, event, *choices) -> Record:
        return self._tell(event, *choices)

    def close(self) -> None:
        self._writer.close()


@pytest.fixture
def tell(tmp_path):
    """Makes stories, each in a folder of its own."""
    told = []

    def make(name: str = "exp", **parts: object) -> Told:
        told.append(Told(tmp_path / name, **parts))
        return told[-1]

    yield make
    for one in told:
        one.close()


@pytest.fixture
def told(tell):
    return tell()
