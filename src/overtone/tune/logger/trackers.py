"""The error for callbacks of experiment trackers, which this version lacks."""

from __future__ import annotations

from overtone.errors import TuneError


class MissingTrackerError(TuneError, ImportError):
    """The callback of an experiment tracker is not available in this version of Overtone."""


def missing(extra: str, callback: str, package: str) -> MissingTrackerError:
    """Return the error for importing `callback`, which needs `package` and will come with `extra`."""
    return MissingTrackerError(
        f"{callback} is not available in this version of Overtone: it will come with the extra "
        f'"overtone[{extra}]". Until then: pip install {package}, and log in a subclass of '
        "tune.logger.LoggerCallback (log_trial_start, log_trial_result, log_trial_end)"
    )
