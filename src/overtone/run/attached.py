"""A run of another process, steered from this one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.control.answers import Answer
from overtone.control.client import question
from overtone.control.verbs import Verbs
from overtone.core.messages import Requested
from overtone.engines.request_delivery import deliver
from overtone.reading.location import located, path_of

if TYPE_CHECKING:
    from overtone.analysis import ExperimentAnalysis


def attach(path: str | os.PathLike[str]) -> AttachedRun:
    """Return the run of an experiment that another process began, to steer it.

    Args:
        path: The experiment's folder, its journal, or its URL; or its name below `~/overtone_results`.

    Raises:
        StorageError: There is no experiment.
    """
    return AttachedRun(located(path_of(path)).parent)


class AttachedRun(Verbs):
    """An experiment that another process runs, or that nobody runs now.

    Without a driver, `add`, `clone`, `set_limits`, `set_priority` and `note` are recorded for the next
    resume.

    Attributes:
        folder: The experiment's folder.
    """

    def __init__(self, folder: Path, way: str = "Python") -> None:
        self.folder = folder
        self._way = way

    def _send(self, event: Requested) -> Answer:
        return deliver(self.folder, event)

    def stack(self, trial_id: str) -> str:
        return question(self.folder, "stack", trial_id)

    @property
    def analysis(self) -> ExperimentAnalysis:
        """The results so far."""
        from overtone.analysis import ExperimentAnalysis

        return ExperimentAnalysis(self.folder)

    def __repr__(self) -> str:
        return f"AttachedRun({str(self.folder)!r})"

    def _ipython_display_(self) -> None:
        from overtone.ui.widget import display_experiment

        display_experiment(self.folder, self._repr_html_)

    def _display_(self) -> Any:  # marimo's
        from overtone.ui.widget import display_value

        return display_value(self.folder, self._repr_html_)

    def _repr_html_(self) -> str:
        return self.analysis._repr_html_()
