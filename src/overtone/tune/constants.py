"""Names of environment variables, as scripts for Ray Tune import them."""

from __future__ import annotations

from overtone.tune.environment import CALLBACKS, CHDIR, FOLDERS, GRACE_S, NO_DATE, NO_LOGGERS, NO_SIGNALS

__all__ = ["RAY_TUNE_CALLBACKS_ENV_VAR", "TUNE_ENV_VARS"]

RAY_TUNE_CALLBACKS_ENV_VAR = CALLBACKS

TUNE_ENV_VARS = frozenset({CALLBACKS, CHDIR, GRACE_S, NO_DATE, NO_LOGGERS, NO_SIGNALS, *FOLDERS})
"""The variables that Overtone honours: docs/environment-variables.md has them all."""
