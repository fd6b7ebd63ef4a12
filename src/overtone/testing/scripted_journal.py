"""An experiment told step by step, in a journal on the disk."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from overtone.core.messages import Ended, Moved, Ruled
from overtone.core.types import Why
from overtone.journal.header import new_header
from overtone.journal.writer import JournalWriter
from overtone.testing.scripted_records import Story


class ScriptedJournal(Story):
    """A story that is written to a journal.

    Args:
        folder: The experiment's folder, which is made.
        command: The command in the header.
        wall: The beginning, in seconds since 1970; None for now.
        parts: Settings of the header.

    Attributes:
        journal: The file.
    """

    def __init__(
        self,
        folder: Path,
        command: Sequence[str] = ("train.py",),
        wall: float | None = None,
        /,
        **parts: Any,
    ) -> None:
        super().__init__()
        self.journal = folder / "journal.jsonl"
        folder.mkdir(parents=True)
        given = {"name": "train", "metric": ["loss"], "mode": ["min"], **parts}
        header = new_header(1, given, command=list(command))
        self.writer = JournalWriter(self.journal, header if wall is None else {**header, "wall": wall})
        self._written = 0

    def write(self) -> Path:
        """Append what is new; return the journal."""
        new = self.records[self._written :]
        first = self.writer.next_n
        self.writer.append([replace(one, n=first + i) for i, one in enumerate(new)])
        self._written += len(new)
        return self.journal

    def run(self, config: dict[str, Any], *results: dict[str, Any]) -> str:
        """Tell of a trial that reports the results and ends; return its id."""
        trial = self.add(config)
        self.start(trial)
        for result in results:
            self.time += 1.0
            self.report(trial, **result)
        self.end(trial)
        return trial

    def random_steps(self, rng: random.Random, n: int) -> None:
        """Tell anything that may happen, `n` times."""
        for _ in range(n):
            self.time += rng.random()
            trials = list(self._configs)
            if not trials or rng.random() < 0.25:
                trial = self.add(random_config(rng))
                if rng.random() < 0.9:
                    self.start(trial, node=rng.choice(["10.0.0.1", "10.0.0.2", "host"]))
                continue
            trial, other = rng.choice(trials), rng.choice(trials)
            if trial not in self._started:
                self.start(trial)
            attempt, t = self._attempts[trial], self._t[trial]
            why = Why("asha", t=t, rung=rng.choice([1, 3, 9]), cutoff=0.5, rank=1, of=2)
            what = rng.randrange(9)
            if what < 4:
                self.report(trial, **random_metrics(rng))
            elif what == 4:
                self.report(trial, Ruled(trial, t + 1, "redone"), **random_metrics(rng))
            elif what == 5:
                config = random_config(rng)
                self.report(trial, Ruled(trial, t + 1, "continue", why, config), **random_metrics(rng))
            elif what == 6:
                ruled = Ruled(trial, t + 1, "restart", why, random_config(rng), other)
                self.report(trial, ruled, Moved(trial, "HALTING", attempt), **random_metrics(rng))
                if rng.random() < 0.7:
                    moved = Moved(trial, "PENDING", attempt + 1, why, config=ruled.config)
                    self._tell(Ended(self.time, trial, attempt, "halted"), moved)
                    self._attempts[trial] += 1
            elif what == 7:
                self.end(trial, error=rng.choice(["", "it failed"]))
            else:
                self.recover(trial, "it was killed")


def random_config(rng: random.Random) -> dict[str, Any]:
    """Return a config, at times with odd values."""
    odd = [1, 2.5, "a", None, True, (1, 2), [1], {}, math.nan, math.inf, 2**60, 10**400, "\ud800", "é"]
    config: dict[str, Any] = {"lr": rng.random(), "width": rng.randrange(9), "kind": rng.choice("abc")}
    if rng.random() < 0.5:
        config["net"] = {"depth": rng.randrange(3)} if rng.random() < 0.5 else {"size": rng.choice(odd)}
    if rng.random() < 0.1:
        config[f"late{rng.randrange(4)}"] = rng.choice(odd)
    return config


def random_metrics(rng: random.Random) -> dict[str, Any]:
    """Return metrics, at times with odd values."""
    odd = [math.nan, math.inf, -math.inf, 10**400, "text", None, True, 0, -0.0, {"a": 1.5}, [1.0], 1e308]
    metrics: dict[str, Any] = {"loss": rng.choice([rng.random(), rng.randrange(4)]), "acc": rng.random()}
    if rng.random() < 0.1:
        metrics[rng.choice(["loss", "acc", "late"])] = rng.choice(odd)
    if rng.random() < 0.1:
        metrics["deep"] = {"a": rng.random(), "b": {"c": rng.choice(odd)}}
    return metrics
