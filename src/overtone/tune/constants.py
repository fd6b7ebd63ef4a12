"""Names of Ray Tune's environment variables, as scripts import them: docs/environment-variables.md."""

from overtone.tune.environment import CALLBACKS, CHDIR, FOLDERS, GRACE_S, NO_DATE, NO_LOGGERS, NO_SIGNALS

__all__ = ["RAY_TUNE_CALLBACKS_ENV_VAR", "TUNE_ENV_VARS"]

RAY_TUNE_CALLBACKS_ENV_VAR = CALLBACKS

TUNE_ENV_VARS = frozenset({CALLBACKS, CHDIR, *FOLDERS, GRACE_S, NO_DATE, NO_LOGGERS, NO_SIGNALS})
"""The variables that Overtone honours."""
