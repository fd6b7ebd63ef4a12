"""Links with the names that the user gives to trials' folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from overtone.core.messages import Added, Record
from overtone.core.protocols import Observer
from overtone.core.trial import Trial


class Links(Observer):
    """Makes `<folder>/<name>` a link to the trial's folder.

    Args:
        folder: The experiment's.
        trials: The experiment's trials by id.
        name: What to call a trial's folder; one component, other characters become "_".
    """

    def __init__(self, folder: Path, trials: Mapping[str, Trial], name: Callable[[Trial], str]) -> None:
        self._folder = folder
        self._trials = trials
        self._name = name

    def on_record(self, record: Record) -> None:
        for choice in record.choices:
            if type(choice) is Added:
                name = re.sub(r"[/\\\0]", "_", str(self._name(self._trials[choice.trial_id])))[:255]
                link = self._folder / name
                if name not in ("", ".", "..") and not link.is_symlink() and not link.exists():
                    link.symlink_to(choice.trial_id, target_is_directory=True)
