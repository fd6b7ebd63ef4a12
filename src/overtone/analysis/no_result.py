"""Errors of analyses that are RuntimeErrors in Ray Tune."""

from __future__ import annotations

from overtone.errors import GoalError, StorageError


class NoBestError(GoalError, RuntimeError):
    """No result or checkpoint can be chosen by the metric."""


class NoTrialError(StorageError, RuntimeError):
    """A folder is not the folder of a trial."""
