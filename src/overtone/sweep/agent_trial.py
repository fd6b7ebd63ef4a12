"""Runs one trial's program for an agent, as a process: `python -m overtone.sweep.agent_trial PLACE TASK`."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError, TrainableError, TrialHalted
from overtone.program.child import Child
from overtone.program.program import CHECKPOINT, Program, restore
from overtone.program.run import Trial
from overtone.program.shared_place import (
    Files,
    Outbox,
    PersistentFiles,
    files_at,
    read_json,
    read_tree,
    write_tree,
)
from overtone.store.files import is_url
from overtone.worker import process_tree
from overtone.worker.gpus import VARIABLE

_FLUSH_S = 0.5
_MOST_OUTPUT = 1 << 18


class _AgentTrial(Trial):
    """A trial that sends its messages to the driver."""

    def __init__(self, files: Files, task: str) -> None:
        self._files, self._task = files, task
        self.outbox = Outbox(files, f"{task}/out")
        self._flushed_at = self._looked_at = time.monotonic()
        self._n_output = self._n_checkpoints = 0
        self.is_told = False

    def report(self, metrics: Mapping[str, Any], checkpoint: str | None) -> None:
        message: dict[str, Any] = {"metrics": dict(metrics)}
        if checkpoint is not None:
            message["checkpoint"] = f"checkpoint{self._n_checkpoints}"
            self._n_checkpoints += 1
            write_tree(self._files, f"{self._task}/{message['checkpoint']}", Path(checkpoint))
        self.outbox.put(message)
        self._flush_if_due()
        self._look()

    def check(self, child: Child) -> None:
        self._flush_if_due()
        self._look()

    def write(self, stream: str, data: bytes) -> None:
        self.outbox.put({"stream": stream, "output": data.decode("latin-1")})
        self._n_output += len(data)
        if self._n_output > _MOST_OUTPUT:
            self._flush()

    def _look(self) -> None:
        """Raise TrialHalted if the driver, or the agent, ends the trial."""
        if not self.is_told and time.monotonic() - self._looked_at >= _FLUSH_S:
            self._looked_at = time.monotonic()
            self.is_told = self._files.read(f"{self._task}/halt.json") is not None
        if self.is_told:
            raise TrialHalted("this trial was told to end")

    def _flush_if_due(self) -> None:
        if time.monotonic() - self._flushed_at >= _FLUSH_S:
            self._flush()

    def _flush(self) -> None:
        self.outbox.flush()
        self._flushed_at, self._n_output = time.monotonic(), 0


def run(place: str, task: str) -> None:
    """Run the program of a task, and send its end."""
    files = PersistentFiles(files_at(place))
    start = read_json(files, f"{task}/start.json")
    trial = _AgentTrial(files, task)
    signal.signal(signal.SIGTERM, lambda *_: setattr(trial, "is_told", True))
    facts, fields = start["facts"], start["program"]
    fields |= {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    program = Program(**fields)
    if program.directory is not None:
        program = _at(program, os.getcwd())
    os.environ[VARIABLE] = start["gpus"]
    with tempfile.TemporaryDirectory(prefix="overtone_trial_") as home:
        folder = Path(home, facts["trial_id"]) if is_url(place) else Path(place, facts["trial_id"])
        folder.mkdir(parents=True, exist_ok=True)
        facts["trial_dir"] = str(folder)
        saved = None
        if start["restores"]:
            read_tree(files, f"{task}/restore", Path(home, "restore"))
            saved = os.path.join(home, "restore")
        # Not in the shared folder: a frozen attempt may wake and save while a later attempt runs elsewhere.
        checkpoint = Path(home, CHECKPOINT)
        restore(checkpoint, saved)
        end: dict[str, Any] = {"end": "done"}
        grace_s = max(start["grace_s"] - 2.0, start["grace_s"] / 2)
        try:
            program.run(trial, start["config"], facts, checkpoint, start["iteration"], grace_s)
        except TrialHalted:
            end = {"end": "halted"}
        except (TrainableError, OvertoneError) as error:
            end = {"end": "failed", "error": str(error)}
    trial.outbox.put(end)
    trial.outbox.flush()


def _at(program: Program, directory: str) -> Program:
    from dataclasses import replace

    return replace(program, directory=directory)


if __name__ == "__main__":
    process_tree.die_with_parent()
    run(*sys.argv[1:3])
