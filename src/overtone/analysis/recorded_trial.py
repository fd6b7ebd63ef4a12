"""A trial as the journal has it, under the names that users of Tune know."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar

from overtone.analysis.columns import columns_of
from overtone.analysis.frames import flatten, frame_of
from overtone.analysis.summary import summarize, values_of
from overtone.analysis.trial_error import trial_error
from overtone.analysis.trial_parts import (
    RunMetadata,
    SavedResult,
    SavedResults,
    TrialStorage,
    by_score,
    searched_values,
)
from overtone.core.goal import is_number, lookup
from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.resources import Resources
from overtone.core.table import Row, constant_facts
from overtone.core.trial import ShownStatuses, Status
from overtone.core.types import Checkpoint as Reference
from overtone.core.types import Why
from overtone.errors import StorageError, TrialError
from overtone.reading.journal_index import JournalIndex
from overtone.worker.checkpoints.checkpoint import Checkpoint


class RecordedTrial(ShownStatuses):
    """A trial of an experiment: a read-only window, which shows more after a `refresh()`.

    Attributes:
        trial_id: Such as "358bb_00006".
    """

    __slots__ = ("_index", "trial_id")

    stub: ClassVar[bool] = True
    """Whether it is without its trainable, as all recorded trials are."""

    is_saving: ClassVar[bool] = False
    is_restoring: ClassVar[bool] = False

    def __init__(self, trial_id: str, index: JournalIndex) -> None:
        self.trial_id = trial_id
        self._index = index

    @property
    def _row(self) -> Row:
        return self._index.table.rows[self.trial_id]

    # --- what it is --------------------------------------------------------------------

    @property
    def index(self) -> int:
        """The trial's place in the order of creation, from 0."""
        return self._row.index

    @property
    def config(self) -> dict[str, Any]:
        """The trial's hyperparameters; those it has now, where a scheduler changed them."""
        return self._row.config

    @property
    def evaluated_params(self) -> dict[str, Any]:
        """The values that the search chose, by path ("optimizer/lr"); the whole config if it has no space."""
        space = self._parts.get("space")
        return dict(searched_values(space, self.config)) if space else flatten(self.config)

    @property
    def experiment_tag(self) -> str:
        """Such as "6_lr=0.01"."""
        return self._row.tag

    @property
    def resources(self) -> Resources:
        """The requested resources."""
        return self._row.resources

    @property
    def placement_group_factory(self) -> PlacementGroupFactory:
        """The requested resources as a placement group."""
        return PlacementGroupFactory.of(self._row.resources)

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
    def relative_logdir(self) -> str:
        """The name of its folder; that of `trial_dirname_creator`, if one was given."""
        return self._index.folder_names.get(self.trial_id, self.trial_id)

    custom_dirname = relative_logdir

    @property
    def local_path(self) -> str:
        """The trial's folder, where the experiment lies now."""
        return os.path.join(self._index.folder, self.relative_logdir)

    logdir = path = local_path

    @property
    def local_experiment_path(self) -> str:
        """The experiment's folder."""
        return str(self._index.folder)

    local_dir = local_experiment_path

    remote_experiment_path = local_experiment_path

    @property
    def experiment_dir_name(self) -> str:
        """The name of the experiment's folder."""
        return self._index.folder.name

    @property
    def storage(self) -> TrialStorage:
        """The places of its files, under the names of Ray Tune's storage context."""
        folder = self._index.folder
        return TrialStorage(str(folder.parent), folder.name, self.relative_logdir)

    @property
    def node_ip(self) -> str:
        """The address of the node where it last ran; empty before its first start."""
        return self._row.node_ip if self._row.node else ""

    def get_ray_actor_ip(self) -> str | None:
        """Return the address of the node where it last ran; None before its first start."""
        return self.node_ip or None

    @property
    def stopping_criterion(self) -> dict[str, Any]:
        """The metrics and values of `stop=`, if it was a dict; else empty."""
        stop = self._parts.get("stop")
        return dict(stop) if isinstance(stop, dict) and "path" not in stop else {}

    @property
    def max_failures(self) -> int:
        """The number of failures after which it is tried again; -1 for no limit."""
        options = self._parts.get("options")
        found = options.get("max_failures") if isinstance(options, dict) else None
        return found if isinstance(found, int) else 0

    # --- what it reported --------------------------------------------------------------

    @property
    def num_results(self) -> int:
        """The number of reported results."""
        return len(self._index.past(self.trial_id).offsets)

    @property
    def last_result(self) -> dict[str, Any]:
        """The trial's last result with its constant facts and config; empty before the first."""
        return self._index.last_result(self.trial_id)

    @property
    def has_reported_at_least_once(self) -> bool:
        """Whether it reported a result."""
        return self.num_results > 0

    def results(self) -> Iterator[dict[str, Any]]:
        """Return all its results, complete, oldest first, read one at a time."""
        return self._index.results(self.trial_id)

    def frame(self) -> Any:
        """Return a DataFrame of all its results."""
        return frame_of(columns_of(self._index.blocks(self.trial_id)))

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

    @property
    def run_metadata(self) -> RunMetadata:
        """Facts about its run, under the names of Ray Tune's run metadata."""
        return RunMetadata(self, self._index.header.get("wall", 0.0), self._row.started)

    # --- what it saved -----------------------------------------------------------------

    def has_checkpoint(self) -> bool:
        """Return whether it has a checkpoint, its own or the one from which it started."""
        return bool(self._index.past(self.trial_id).checkpoints) or self._row.checkpoint is not None

    @property
    def checkpoint_freq(self) -> int:
        """The number of iterations between checkpoints; 0 if it was not given."""
        every = self._policy.get("every")
        return every if isinstance(every, int) else 0

    @property
    def checkpoint_at_end(self) -> bool:
        """Whether it had to save at its end."""
        return bool(self._policy.get("at_end"))

    def saved_results(self) -> SavedResults:
        """Return its checkpoints with their results, the newest and the ranked ones."""
        saved = self.checkpoints()
        ranked = by_score(saved, self._policy.get("order"), self._policy.get("order_mode") or "max")
        newest = SavedResult(*saved[-1]) if saved else None
        return SavedResults([SavedResult(*one) for one in ranked], newest)

    @property
    def latest_checkpoint_result(self) -> SavedResult | None:
        """The trial's newest checkpoint and the result that it was saved with; None if it saved none."""
        return self.saved_results().latest_checkpoint_result

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The newest checkpoint; if the trial saved none, the checkpoint from which it started."""
        own = self.references()
        newest = own[-1] if own else self.start_reference
        return None if newest is None else self.opened(newest)

    @property
    def start_reference(self) -> Reference | None:
        """The checkpoint from which it started, or its newest; None without one."""
        return self._row.checkpoint

    def references(self) -> list[Reference]:
        """Return the checkpoints that it saved and that are still kept, oldest first."""
        return list(self._index.past(self.trial_id).checkpoints.values())

    def checkpoints(self) -> list[tuple[Checkpoint, dict[str, Any]]]:
        """The trial's checkpoints, oldest first, each with the result it was saved with (empty if none)."""
        references = self.references()
        wanted = {one.t for one in references}
        by_t: dict[Any, dict[str, Any]] = {}
        for result in self.results() if wanted else ():
            t = result.get("training_iteration")
            if t in wanted:
                by_t[t] = result
        return [(self.opened(one), by_t.get(one.t, {})) for one in references]

    def opened(self, reference: Reference) -> Checkpoint:
        """Return the checkpoint that is meant, as users hold it; in a copied experiment, the copy.

        Raises:
            StorageError: The reference points outside of the folders in which the trial saved.
        """
        path = reference.uri.removeprefix("file://")
        parts = path.replace("\\", "/").rstrip("/").split("/")
        if ".." in parts or "\0" in path:
            raise StorageError(f"{path!r} is not the path of a checkpoint: {self.trial_id} never saved there")
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
        """The failure of the trial in one line; "" if it did not fail."""
        return self._row.error

    @property
    def traceback(self) -> str:
        """The user's own traceback, complete, where the trial failed."""
        return self._index.past(self.trial_id).traceback

    def exception(self) -> TrialError | None:
        """Return its last error, an instance of the builtin exception that it was; None without one."""
        if not self.num_failures:
            return None
        return trial_error(self.trial_id, self.error, self.traceback)

    get_pickled_error = exception

    def get_error(self) -> str | None:
        """Return the text of its last error, with the traceback; None without one."""
        return None if not self.num_failures else self.traceback or self.error

    pickled_error_file: ClassVar[None] = None

    @property
    def num_failures_after_restore(self) -> int:
        """0: failures are counted for the whole experiment."""
        return 0

    @property
    def error_file(self) -> str | None:
        """The file with the traceback, where the trial failed."""
        return os.path.join(self.local_path, "error.txt") if self.num_failures else None

    @property
    def trainable_name(self) -> str:
        """The trainable's name, where the journal tells."""
        return str(self._parts.get("name", ""))

    @property
    def custom_trial_name(self) -> str | None:
        """The name that `trial_name_creator` made; None without one."""
        return self._row.name or None

    @property
    def _parts(self) -> dict[str, Any]:
        parts = self._index.header.get("parts")
        return parts if isinstance(parts, dict) else {}

    @property
    def _policy(self) -> dict[str, Any]:
        policy = self._parts.get("checkpoints")
        return policy if isinstance(policy, dict) else {}

    def __str__(self) -> str:
        return self._row.name or f"{self.trainable_name}_{self.trial_id}".lstrip("_")

    def __repr__(self) -> str:
        return f"<{self} {self.status}, {self.num_results} results>"


def index_of(trial: RecordedTrial) -> JournalIndex:
    """Return the index of the journal in which a trial is."""
    return trial._index
