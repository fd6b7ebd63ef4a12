"""Errors of trainers by the names that scripts import."""

from overtone.errors import TuneError

__all__ = ["TrainingFailedError"]


class TrainingFailedError(TuneError, RuntimeError):
    """A trainer's run failed. Overtone raises `TuneError`; the name serves `except` clauses of scripts."""
