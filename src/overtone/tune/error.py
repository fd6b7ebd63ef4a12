"""Kept for imports of `tune.error`."""

from overtone.errors import OvertoneError, TuneError

__all__ = ["OvertoneError", "TuneError"]
