"""The levels of `verbose`, by name."""

from __future__ import annotations

from enum import IntEnum


class Verbosity(IntEnum):
    """Levels of output, for `tune.run(verbose=...)`."""

    V0_MINIMAL = 0
    V1_EXPERIMENT = 1
    V2_TRIAL_NORM = 2
    V3_TRIAL_DETAILS = 3
