"""Names that scripts import from `ray.exceptions`: the errors of this package that take their place."""

from __future__ import annotations

from typing import Any

from overtone.errors import OvertoneError, TrialError

__all__ = [
    "ActorDiedError",
    "GetTimeoutError",
    "NodeDiedError",
    "OutOfMemoryError",
    "RayActorError",
    "RayError",
    "RayTaskError",
    "WorkerCrashedError",
]

RayError = OvertoneError
RayTaskError = TrialError
RayActorError = ActorDiedError = NodeDiedError = OutOfMemoryError = WorkerCrashedError = TrialError
"""A trial that raised, and one whose process died, both end with a `TrialError`."""

GetTimeoutError = TimeoutError


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"overtone.exceptions has no {name!r}: only an error of Ray's tasks and objects has that name; "
        f"import ray beside it, and write ray.exceptions.{name}"
    )
