"""The exceptions that Overtone raises on purpose."""

from __future__ import annotations

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from typing import Any


class TuneError(Exception):
    """Root of all errors that Overtone raises on purpose; the message says what to do.

    Raised itself if an experiment ended with failed trials.

    Args:
        message: The text.
        analysis: See the attribute.

    Attributes:
        analysis: The results so far, if an experiment had begun; else None.
    """

    analysis: Any = None

    def __init__(self, message: object = "", analysis: Any = None) -> None:
        super().__init__(message)
        if analysis is not None:
            self.analysis = analysis


OvertoneError = TuneError
"""The root by its first name."""


class ArgumentError(TuneError, ValueError):
    """An argument has a value that is not allowed."""


class UsageError(TuneError, TypeError):
    """A call lacks an argument, has an unknown one, or a user's function returned another type."""


class SpaceError(TuneError, ValueError):
    """A search space or a configuration cannot be used as it was written."""


class GoalError(TuneError, ValueError):
    """The metric or its mode is missing, contradictory or unknown."""


class ResourceError(TuneError, ValueError):
    """A demand can never be met, or is not a demand at all."""


class TrainableError(TuneError, ValueError):
    """A trainable cannot be run as it was given."""


class StorageError(TuneError, OSError):
    """Results, checkpoints or the journal cannot be written or read."""


class DamagedError(StorageError):
    """A checkpoint is missing, or differs from the saved one."""


class NoRoomError(StorageError):
    """A checkpoint cannot be kept: the kept checkpoints take more than `max_disk`."""


class TrialLostError(TuneError):
    """The machine of a trial is gone: the trial runs again elsewhere, which is not a failure."""


class MessageError(TuneError, ValueError):
    """A trial's process sent data that is not a message."""


class MissingPackageError(TuneError, ImportError):
    """An optional package is needed and is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        what = f'"overtone[{extra}]"' if extra else package
        super().__init__(f"{purpose} needs {package}: pip install {what}")


class CallbackError(TuneError):
    """A user's callback raised, and the run ended; `__cause__` is the exception that it raised."""


class TrialError(TuneError):
    """A trial's own exception: its text includes the traceback from the trial's process.

    Attributes:
        trial_id: The trial; "" if it is not known.
        type_name: The name of the exception's type, such as "ValueError"; "" if the trial did not raise.
        text: The exception's text.
        traceback: The user's own traceback; "" if the trial did not raise.
    """

    trial_id = ""
    type_name = ""
    text = ""
    traceback = ""

    def __str__(self) -> str:  # not that of a KeyError, which this may be, too
        return str(self.args[0]) if self.args else ""


class GangError(TuneError):
    """Distributed training failed: a rank raised, died or hung, or the ranks could not be made.

    Attributes:
        rank: The rank at fault; None if it is not one rank.
        traceback: The traceback of the user's code in that rank; "" if it did not raise.
    """

    def __init__(self, message: str, rank: int | None = None, traceback: str = "") -> None:
        super().__init__(message)
        self.rank, self.traceback = rank, traceback


class TrialHalted(BaseException):
    """Raised inside `report()` when the trial was told to end.

    Let it pass: `finally` blocks and context managers do their work. It is not an Exception,
    so `except Exception` does not catch it, and each further report raises it again.
    """
