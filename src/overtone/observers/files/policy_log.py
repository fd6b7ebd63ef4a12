"""The schedules of a population, in files that can be replayed.

`pbt_global.txt` has a line for each change in the experiment. `pbt_policy_<trial>.txt` has a line
for each change that led to the trial's current config. A line is a JSON list, as in Ray Tune: the tag
of the trial, the tag of the trial that it cloned, the training_iteration of each, the config
before, and the config after.
"""

from __future__ import annotations

from pathlib import Path

from overtone.core.lineage import Lineage, LineageStep
from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.journal.text import dumps
from overtone.store.folder_mark import FolderMark


class PolicyLog(Observer):
    """Writes the files into `folder`."""

    follows_results = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._mark = FolderMark.of(folder)
        self._lineage = Lineage()
        self._past: list[LineageStep] = []

    def on_past(self, record: Record) -> None:
        self._past += [step for _, step in self._lineage.apply(record)]

    def on_record(self, record: Record) -> None:
        for trial_id, step in self._lineage.apply(record):
            self._mark.check()
            steps = self._lineage.steps(trial_id)
            (self._folder / f"pbt_policy_{trial_id}.txt").write_text(_lines(steps), encoding="utf-8")
            whole = self._folder / "pbt_global.txt"
            if self._past:  # what a driver that was killed had written is complete again
                whole.write_text(_lines(self._past), encoding="utf-8")
                self._past = []
            with whole.open("a", encoding="utf-8") as file:
                file.write(_lines([step]))


def _lines(steps: list[LineageStep] | tuple[LineageStep, ...]) -> str:
    facts = [(one.target, one.source, one.target_t, one.t, one.before, one.after) for one in steps]
    return "".join(f"{dumps(list(one))}\n" for one in facts)
