"""Kept for imports of `tune.error`."""

from overtone.errors import CallbackError, OvertoneError, TrialError, TuneError

__all__ = ["CallbackError", "OvertoneError", "TrialError", "TuneError"]
