"""The levels of `verbose`, by name."""

from __future__ import annotations

from enum import IntEnum


class Verbosity(IntEnum):
    """Levels of output, for `tune.run(verbose=...)`."""

    V0_MINIMAL = 0
    V1_EXPERIMENT = 1
    V2_TRIAL_NORM = 2
    V3_TRIAL_DETAILS = 3


_level = Verbosity.V3_TRIAL_DETAILS


def set_verbosity(level: int | Verbosity) -> None:
    """Set the level that `has_verbosity` compares with; `tune.run(verbose=...)` sets that of a run."""
    global _level
    _level = Verbosity(level)


def has_verbosity(level: int | Verbosity) -> bool:
    """Return whether output of this level is wanted."""
    return _level >= int(level)
