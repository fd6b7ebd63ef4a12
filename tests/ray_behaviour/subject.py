"""The subject of the suite: Overtone, or Ray itself with CONFORMANCE_SUBJECT=ray.

Tests import `tune` and its like from here, and name what they test with `covers`.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

NAME = os.environ.get("CONFORMANCE_SUBJECT", "overtone")

IS_RAY = NAME == "ray"


def part(path: str) -> Any:
    """Return a module of the subject by its path without the first word, such as "tune.search"."""
    return importlib.import_module(f"{NAME}.{path}")


def covers(*what: str) -> Any:
    """Return the mark of a test that fails if one of these names or arguments has no effect.

    Args:
        what: Paths of `tests/packaging/ray_surface.txt`, with arguments after a colon:
            "tune.run: name metric".
    """
    return pytest.mark.covers(*what)


if IS_RAY:
    os.environ |= {
        "OMP_NUM_THREADS": "1",  # matrices are small: threads that wait for each other take far longer
        "RAY_AIR_NEW_OUTPUT": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_TRAIN_V2_ENABLED": "0",  # the form of ray.train that trials of a search use
        "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "0",
        "TUNE_GLOBAL_CHECKPOINT_S": "10000",
        "TUNE_MAX_PENDING_TRIALS_PG": "4",
    }

tune = part("tune")
train = part("train")
air = part("air")
