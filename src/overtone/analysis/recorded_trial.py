"""A trial as the journal has it, under the names that users of Tune know."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from overtone.analysis.columns import columns_of
from overtone.analysis.frames import flatten, frame_of
from overtone.analysis.summary import summarize, values_of
from overtone.core.goal import is_number, lookup
from overtone.core.resources import Resources
from overtone.core.table import Row, constant_facts
from overtone.core.trial import Status
from overtone.core.types import Checkpoint as Reference
from overtone.core.types import Why
from overtone.errors import StorageError
from overtone.reading.journal_index import JournalIndex
from overtone.worker.checkpoints.checkpoint import Checkpoint


class RecordedTrial:
    """A trial of an experiment: a read-only window, which shows more after a `refresh()`.

    Attributes:
        trial_id: Such as "358bb_00006".
    """

    __slots__ = ("_index", "trial_id")

    def __init__(self, trial_id: str, index: JournalIndex) -> None:
        self.trial_id = trial_id
        self._index = index

    @property
    def _row(self) -> Row:
        return self._index.table.rows[self.trial_id]

    # --- what it is --------------------------------------------------------------------

    @property
    def index(self) -> int:
        """Its place in the order of creation, from 0."""
        return self._row.index

    @property
    def config(self) -> dict[str, Any]:
        """Its hyperparameters; those it has now, where a scheduler changed them."""
        return self._row.config

    @property
    def experiment_tag(self) -> str:
        """Such as "6_lr=0.01"."""
        return self._row.tag

    @property
    def resources(self) -> Resources:
        """The requested resources."""
        return self._row.resources

    @property
    def status(self) -> str:
        """PENDING, RUNNING, PAUSED, TERMINATED or ERROR."""
        return Status(self._row.status).shown

    @property
    def why(self) -> Why | None:
        """The reason of the last decision on it."""
        return self._row.why

    def is_finished(self) -> bool:
        """Return whether it ended for good."""
        return self._row.is_final

    @property
    def local_path(self) -> str:
        """Its folder, where the experiment lies now."""
        return os.path.join(self._index.folder, self.trial_id)

    logdir = path = local_dir = local_path

    # --- what it reported --------------------------------------------------------------

    @property
    def num_results(self) -> int:
        """The number of reported results."""
        return len(self._index.past(self.trial_id).offsets)

    @property
    def last_result(self) -> dict[str, Any]:
        """Its last result with its constant facts and config; empty before the first."""
        return self._index.last_result(self.trial_id)

    def results(self) -> Iterator[dict[str, Any]]:
        """Return all its results, complete, oldest first, read one at a time."""
        return self._index.results(self.trial_id)

    def frame(self) -> Any:
        """Return a DataFrame of all its results."""
        return frame_of(columns_of(self._index.blocks(self.trial_id), self.num_results))

    @property
    def metric_analysis(self) -> dict[str, dict[str, float]]:
        """`{metric: {"max", "min", "avg", "last", "last-5-avg", "last-10-avg"}}` of all that is a number."""
        values: dict[str, list[float]] = {}
        for result in self.results():
            del result["config"], result["pid"]
            for name, value in flatten(result).items():
                if is_number(value):
                    values.setdefault(name, []).append(value)
        return {name: summarize(one) for name, one in values.items()}

    def value(self, metric: str, mode: str = "max", scope: str = "last") -> float | None:
        """Return the metric in the sense of `scope`; None where the trial never reported it as a number."""
        if not self.num_results:
            return None
        if scope == "last":
            newest: float | None = lookup(self._row.metrics, metric)
            if not is_number(newest):  # for example, a metric that is evaluated every fifth epoch
                earlier = (lookup(result, metric) for result in self._index.results(self.trial_id, True))
                newest = next((one for one in earlier if is_number(one)), None)
            return newest
        values = values_of(self.results(), metric)
        return summarize(values)[mode if scope == "all" else scope] if values else None

    def facts(self) -> dict[str, Any]:
        """Return the trial's constant facts, with the names of result fields."""
        return {**constant_facts(self._row), "config": self._row.config}

    # --- what it saved -----------------------------------------------------------------

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint; if the trial saved none, the checkpoint from which it started."""
        own = self.references()
        newest = own[-1] if own else self._row.checkpoint
        return None if newest is None else self.opened(newest)

    def references(self) -> list[Reference]:
        """Return the checkpoints that it saved and that are still kept, oldest first."""
        return list(self._index.past(self.trial_id).checkpoints.values())

    def checkpoints(self) -> list[tuple[Checkpoint, dict[str, Any]]]:
        """Its checkpoints, oldest first, each with the result that it was saved with (empty if none)."""
        references = self.references()
        wanted = {one.t for one in references}
        by_t: dict[Any, dict[str, Any]] = {}
        for result in self.results() if wanted else ():
            t = result.get("training_iteration")
            if t in wanted:
                by_t[t] = result
        return [(self.opened(one), by_t.get(one.t, {})) for one in references]

    def opened(self, reference: Reference) -> Checkpoint:
        """Return the checkpoint that is meant, as users hold it; in a copied experiment, the copy."""
        path = reference.uri.removeprefix("file://")
        parts = path.replace("\\", "/").rstrip("/").split("/")
        if ".." in parts or "\0" in path:
            raise StorageError(f"{path!r} is no place of a checkpoint: {self.trial_id} never saved there")
        copy = os.path.join(self._index.folder, *parts[-2:])
        root = os.path.realpath(self._index.folder)
        is_copy = os.path.isdir(copy) and os.path.realpath(copy).startswith(root + os.sep)
        return Checkpoint(copy if is_copy else path)

    # --- what went wrong ---------------------------------------------------------------

    @property
    def num_failures(self) -> int:
        """The number of failures."""
        return max(self._index.past(self.trial_id).failures, int(self.status == "ERROR"))

    @property
    def error(self) -> str:
        """One line on what went wrong, if something did."""
        return self._row.error

    @property
    def traceback(self) -> str:
        """The user's own traceback, complete, where the trial failed."""
        return self._index.past(self.trial_id).traceback

    @property
    def error_file(self) -> str | None:
        """The file with the traceback, where the trial failed."""
        return os.path.join(self.local_path, "error.txt") if self.num_failures else None

    @property
    def trainable_name(self) -> str:
        """The trainable's name, where the journal tells."""
        parts = self._index.header.get("parts")
        return str(parts.get("name", "")) if isinstance(parts, dict) else ""

    def __str__(self) -> str:
        return self._row.name or f"{self.trainable_name}_{self.trial_id}".lstrip("_")

    def __repr__(self) -> str:
        return f"<{self} {self.status}, {self.num_results} results>"


def index_of(trial: RecordedTrial) -> JournalIndex:
    """Return the index of the journal in which a trial is."""
    return trial._index
