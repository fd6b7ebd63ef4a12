"""Functions that training code calls: each acts on the trial that runs in this process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

from overtone.errors import TrainableError
from overtone.worker.session.current import current, is_inside
from overtone.worker.session.no_trial import NoTrial
from overtone.worker.session.parent_trial import SOCKET, ParentTrial

if TYPE_CHECKING:
    from overtone.core.placement_group import PlacementGroupFactory
    from overtone.worker.checkpoints.checkpoint import Checkpoint
    from overtone.worker.session.session import Session


def report(metrics: Any = None, /, *, checkpoint: Any = None, **more: Any) -> None:
    """Report a result, and wait if the scheduler may have to decide.

    Call it as `report({"acc": 0.9}, checkpoint=Checkpoint.from_directory(d))`, `report(acc=0.9)` or
    `report(0.9)` (the metric is then called `_metric`). Outside a trial it warns, and nothing is recorded.
    """
    get_context().report(metrics, checkpoint=checkpoint, **more)


def get_checkpoint() -> Checkpoint | None:
    """Return the checkpoint that the trial resumes from; None at its beginning, and outside a trial."""
    return get_context().get_checkpoint()


def get_context() -> Session:
    """Return the trial's session, which has all the `get_...` methods; outside a trial they return None."""
    try:
        return current()
    except TrainableError:
        return cast("Session", ParentTrial() if SOCKET in os.environ else NoTrial())


def checkpoint_dir(step: int | None = None) -> AbstractContextManager[str]:
    """Return a context with a new directory; the next `report` has its files as the checkpoint.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().checkpoint_dir(step)


def should_checkpoint() -> bool:
    """Return whether to save now and call `record_checkpoint`.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().should_checkpoint()


def record_checkpoint(path: str | os.PathLike[str]) -> None:
    """Keep a copy of the file or directory `path` as the state after the last report.

    Raises:
        TrainableError: There is no trial here.
    """
    current().record_checkpoint(path)


def get_trial_id() -> str:
    """Return the trial's id, such as "358bb_00006".

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_trial_id()


def get_trial_seed() -> int:
    """Return the trial's seed, which is the same in each of its attempts and in `overtone rerun`.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_trial_seed()


def get_trial_name() -> str:
    """Return the trial's name, such as "train_358bb_00006".

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_trial_name()


def get_trial_dir() -> str:
    """Return the path of the trial's folder.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_trial_dir()


def get_experiment_name() -> str:
    """Return the name of the experiment's folder.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_experiment_name()


def get_trial_resources() -> PlacementGroupFactory:
    """Return the resources assigned to the trial.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_trial_resources()


def make_checkpoint_dir(step: int | None = None) -> str:
    """Return a new directory to save into; call `save_checkpoint` then, or just report.

    Args:
        step: Accepted and ignored: the checkpoint is named after its report.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().make_checkpoint_dir()


def save_checkpoint(path: str | os.PathLike[str]) -> None:
    """Add the file or directory `path`, in one of `make_checkpoint_dir`, to the next `report`.

    Raises:
        TrainableError: There is no trial here.
    """
    current().save_checkpoint(path)


def simulate_time(seconds: float) -> None:
    """Advance the simulated engine's clock by `seconds`; with other engines, sleep for `seconds`.

    Computation takes no virtual time. An ordinary trainable declares its training time with
    this function.

    Raises:
        TrainableError: There is no trial here.
    """
    current().simulate_time(seconds)


def get_world_size() -> int:
    """Return the number of ranks of the trial.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_world_size()


def get_world_rank() -> int:
    """Return the rank of this process in the trial.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_world_rank()


def get_local_rank() -> int:
    """Return the rank of this process among the trial's processes on this machine.

    Raises:
        TrainableError: There is no trial here.
    """
    return current().get_local_rank()


def is_session_enabled() -> bool:
    """Return whether a trial runs in this process."""
    return is_inside()


def of_the_trial(name: str) -> Any:
    """Return `params` or `checkpoint` of the trial that runs in this process.

    Raises:
        AttributeError: No trial runs in this process.
    """
    if not is_inside():
        raise AttributeError(
            f"tune.{name} is there while a trial runs: use it in a trainable that tune.run(...) called"
        )
    value: Mapping[str, Any] | str | None = getattr(current(), name)
    return value
