"""The collective of XGBoost among ranks: a tracker in the head, a communicator in each rank."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overtone.errors import MissingPackageError
from overtone.train.backend import BackendConfig

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang

_tracker: dict[str, Any] = {}
"""In a rank: the arguments of its communicator."""


@dataclass
class XGBoostConfig(BackendConfig):
    """Options for XGBoost's collective.

    Attributes:
        xgboost_communicator: Must be "rabit", XGBoost's own.
        timeout_s: Longest time that a rank may let the others wait in `report`, in seconds.

    Raises:
        ValueError: `xgboost_communicator` is not "rabit".
    """

    xgboost_communicator: str = "rabit"
    timeout_s: float = 1800.0

    def __post_init__(self) -> None:
        if self.xgboost_communicator != "rabit":
            raise ValueError(f'xgboost_communicator={self.xgboost_communicator!r}: must be "rabit"')

    @contextmanager
    def head_context(self, gang: Gang) -> Iterator[None]:
        """Open XGBoost's tracker, which makes its ranks those of the gang, and tell the ranks of it."""
        library = _library()
        # Its port is chosen by the kernel. Sorted by task, the ranks of XGBoost are those of the gang.
        tracker = library.tracker.RabitTracker(
            n_workers=gang.num_workers, host_ip=gang.address, sortby="task"
        )
        tracker.start()
        try:
            gang.call(keep_tracker, tracker.worker_args())
            yield
        finally:
            try:
                tracker.free()
            except library.core.XGBoostError:
                pass  # a rank ended without a farewell: the gang's error says why

    @contextmanager
    def rank_context(self) -> Iterator[None]:
        """Be a member of XGBoost's collective."""
        from overtone.worker.session.current import current

        collective = _library().collective
        collective.init(dmlc_task_id=f"{current().get_world_rank():08}", **_tracker)
        yield
        # Not after an error: the farewell of a rank that raised makes the others fail, and one of their
        # errors could be reported in place of its own.
        collective.finalize()


def keep_tracker(arguments: dict[str, Any]) -> None:
    """Keep the arguments of this rank's communicator; the head has each rank call it."""
    _tracker.clear()
    _tracker.update(arguments)


def _library() -> Any:
    try:
        import xgboost  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import xgboost.collective
        import xgboost.tracker  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise MissingPackageError("xgboost", "", "overtone.train.xgboost") from error
    return xgboost
