"""Information that a trial's code can get about the trial."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.core.job import Job
from overtone.core.messages import Start
from overtone.core.randomness import key
from overtone.core.resources import Placement
from overtone.store.folder_mark import mark_of
from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.trial_checkpoints import TrialCheckpoints
from overtone.worker.protocol import Channel

if TYPE_CHECKING:
    from overtone.core.placement_group import PlacementGroupFactory


@dataclass(frozen=True)
class TrialStorage:
    """The folders of a trial on this machine, under the names of Ray Tune's storage context.

    Attributes:
        folder: The experiment's folder.
        trial_dir_name: The name of the trial's folder, below the experiment's.
    """

    folder: Path
    trial_dir_name: str

    @property
    def storage_fs_path(self) -> str:
        """The folder of experiments."""
        return str(self.folder.parent)

    @property
    def experiment_dir_name(self) -> str:
        """The name of the experiment's folder."""
        return self.folder.name

    @property
    def experiment_fs_path(self) -> str:
        """The experiment's folder."""
        return str(self.folder)

    @property
    def trial_fs_path(self) -> str:
        """The trial's folder."""
        return str(self.folder / self.trial_dir_name)

    experiment_driver_staging_path = experiment_fs_path
    trial_driver_staging_path = trial_working_directory = trial_fs_path


class Facts:
    """The facts of one trial, which do not change while it runs."""

    _channel: Channel

    def __init__(self, job: Job, start: Start) -> None:
        self._job, self._start = job, start

    @property
    def attempt(self) -> int:
        """The number of this attempt, from 0."""
        return self._start.attempt

    @property
    def grace_s(self) -> float:
        """Seconds from a halt to SIGTERM."""
        return self._job.grace_s

    def get_trial_id(self) -> str:
        """Return the trial's id, such as "358bb_00006"."""
        return self._start.trial_id

    def get_trial_seed(self) -> int:
        """Return the trial's seed, 0 to 2**32 - 1, for the generators of a training.

        It depends on the experiment's seed and the trial's index alone: it is the same in each attempt of the
        trial, on each machine, and in `overtone rerun`.
        """
        index = self._start.index if self._job.seed_index is None else self._job.seed_index
        return key(self._job.seed, "trial seed", str(index)) & 0xFFFFFFFF

    def get_trial_name(self) -> str:
        """Return the trial's name, such as "train_358bb_00006"."""
        return self._start.name or f"{self._job.name}_{self._start.trial_id}"

    def get_trial_dir(self) -> str:
        """Return the trial's folder, below the experiment's, created if missing."""
        return str(mark_of(self._job).make(self._start.trial_id))

    def get_trial_resources(self) -> PlacementGroupFactory:
        """Return the resources of the trial."""
        from overtone.core.placement_group import PlacementGroupFactory

        return PlacementGroupFactory.of(self._start.resources)

    @property
    def placement(self) -> Placement:
        """The node and the GPUs of each of the trial's bundles."""
        return self._start.placement

    def get_experiment_name(self) -> str:
        """Return the name of the experiment's folder."""
        return self._job.folder.name

    def get_storage(self) -> TrialStorage:
        """Return where the experiment and the trial write on this machine."""
        return TrialStorage(self._job.folder, self._start.trial_id)

    def simulate_time(self, seconds: float) -> None:
        """Let `seconds` of training pass: virtual seconds in the simulated engine, else a sleep.

        Raises:
            ValueError: `seconds` is negative, infinite or not a number.
        """
        if not hasattr(seconds, "__float__") or not 0 <= seconds < float("inf"):
            raise ValueError(f"simulate_time({seconds!r}): give 0 or more seconds, and finite")
        self._channel.spend(seconds)

    def get_world_size(self) -> int:
        """Return 1: a trial's own process is the head of ranks, if there are any, and not among them."""
        return 1

    def get_world_rank(self) -> int:
        """Return 0; see `get_world_size`."""
        return 0

    get_local_world_size = get_world_size
    get_local_rank = get_node_rank = get_world_rank

    def get_metadata(self) -> dict[str, Any]:
        """Return an empty dict: a trial of a search has no metadata."""
        return {}


class Origin(Facts):
    """The facts of one trial, and the checkpoint that it is restored from."""

    _keeper: TrialCheckpoints

    @property
    def checkpoint(self) -> str | None:
        """The file or directory to restore from, its own or another trial's; None if there is none."""
        restored = self._keeper.restored
        return restored.path if restored else None

    @property
    def saved_state(self) -> Any:
        """The state to restore from as it was saved: the path, or the dict of the class API."""
        restored = self._keeper.restored
        return restored.like_saved if restored else None

    def get_checkpoint(self) -> Checkpoint | None:
        """Return the `Checkpoint` to restore from; None if there is none."""
        restored = self._keeper.restored
        return Checkpoint(restored.directory) if restored else None
