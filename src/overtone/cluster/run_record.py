"""This machine's record of a submitted run: `runs/ID.json` in the cluster's state folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from overtone.cluster.run_folder import ID
from overtone.file_lock import locked, open_locked, try_lock
from overtone.regular_files import read_regular, replace_file

_ACTIVE = ".active"
_TRIES, _TRY_AGAIN_S = 3, 0.01


class RunRecord:
    """One run, as this machine knows it.

    Args:
        folder: The state folder of the cluster.
        run_id: The run.

    Attributes:
        facts: `key` (see `script_key`), `script`, `arguments`, `submitted` (seconds since 1970), `home` (on
            the head), `files` (the folder that was uploaded, or None), `status` (its exit status; None until
            it is known), `end` (see `end`), `is_taken_up` (a later run has its experiments), `experiments`:
            for each folder on the head the folder `here`, `url`, and whether it is `whole` here.
    """

    def __init__(self, folder: Path, run_id: str) -> None:
        self.id, self.folder = run_id, folder
        self._path = folder / "runs" / f"{run_id}.json"
        self.facts: dict[str, Any] = {"status": None, "experiments": {}}
        self.read()

    def read(self) -> None:
        """Take in what other commands have noted."""
        with suppress(FileNotFoundError, ValueError):
            self.facts.update(json.loads(read_regular(self._path)))

    def end(self) -> Mapping[str, Any] | None:
        """Return the facts of the run at its end, if a command has brought all its results; else None."""
        self.read()
        ended: Mapping[str, Any] | None = self.facts.get("end")
        return ended

    def note(self, facts: Mapping[str, Any]) -> None:
        """Change facts, atomically. Facts that other commands have noted meanwhile stay."""
        with self._exclusive():
            self._write(facts)

    def note_submitted(self, facts: Mapping[str, Any]) -> None:
        """Note how a run was submitted, by its facts on the head: another machine may have done it."""
        self.note({name: facts[name] for name in ("key", "script", "arguments", "submitted", "home")})

    def take_results(self) -> int | None:
        """Lock the results of this run for a command that brings them; None if another one does.

        Returns:
            The open file: the lock ends when it is closed.
        """
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        return open_locked(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let other commands see, during a block, that this run uses the cluster or is about to."""
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        path = self._path.with_suffix(_ACTIVE)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # Several commands may follow a run; `active_runs` may hold the lock for an instant.
            while not try_lock(fd, is_shared=True):
                time.sleep(_TRY_AGAIN_S)
            yield
        finally:
            os.close(fd)  # The file stays: another command may have opened it.

    def here(self, there: str) -> Path | None:
        """Return the folder on this machine of an experiment on the head, if it is known."""
        known = self.facts["experiments"].get(there)
        return Path(known["here"]) if known else None

    def note_experiment(self, there: str, here: Path, url: str | None, whole: bool = False) -> None:
        """Remember where an experiment comes to."""
        fact = {"here": str(here), "url": url, "whole": whole}
        with self._exclusive():
            if self.facts["experiments"].get(there) != fact:
                self._write({"experiments": {**self.facts["experiments"], there: fact}})

    def move(self, old: Path, new: Path) -> None:
        """Take note that a folder of this machine was renamed."""
        with self._exclusive():
            known = self.facts["experiments"]
            moved = {
                there: {**fact, "here": str(new)} for there, fact in known.items() if fact["here"] == str(old)
            }
            if moved:
                self._write({"experiments": {**known, **moved}})

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Wait until no other command changes records of this cluster's runs, and take in its changes."""
        folder = self._path.parent
        folder.mkdir(mode=0o700, exist_ok=True)
        with locked(os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)):
            self.read()
            yield

    def _write(self, facts: Mapping[str, Any]) -> None:
        self.facts.update(facts)
        replace_file(self._path, json.dumps(self.facts, indent=1).encode() + b"\n")


def records(folder: Path) -> list[RunRecord]:
    """Return all runs of a cluster that this machine submitted or attached to, the oldest first."""
    found = sorted(path.stem for path in (folder / "runs").glob("*.json") if ID.fullmatch(path.stem))
    return [RunRecord(folder, run_id) for run_id in found]


def active_runs(folder: Path) -> list[str]:
    """Return the runs that commands on this machine submit or follow now.

    A run whose results are here does not count: of two runs that end at the same moment, each would wait for
    the other one to take the cluster down.
    """
    paths = sorted((folder / "runs").glob(f"*{_ACTIVE}"))
    held = [path.stem for path in paths if ID.fullmatch(path.stem) and _is_held(path)]
    return [run_id for run_id in held if RunRecord(folder, run_id).end() is None]


def _is_held(path: Path) -> bool:
    """Return whether a command holds the lock; another call of this function has it for an instant alone."""
    for _ in range(_TRIES):
        try:
            fd = open_locked(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        if fd is not None:
            os.close(fd)
            return False
        time.sleep(_TRY_AGAIN_S)
    return True


def script_key(directory: str, script: str, arguments: Sequence[str]) -> str:
    """Return what identifies a script with its arguments on a cluster."""
    return json.dumps([directory, script, *arguments])
