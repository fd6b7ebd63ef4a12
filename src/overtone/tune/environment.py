"""Ray Tune's environment variables: the one place where Overtone reads them.

An argument of the call takes precedence. docs/environment-variables.md has the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from overtone.errors import ArgumentError

if TYPE_CHECKING:
    from overtone.observers.callbacks.callback import Callback

CHDIR = "RAY_CHDIR_TO_TRIAL_DIR"
NO_LOGGERS = "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS"
NO_DATE = "TUNE_DISABLE_DATED_SUBDIR"
NO_SIGNALS = "TUNE_DISABLE_SIGINT_HANDLER"
GRACE_S = "TUNE_FORCE_TRIAL_CLEANUP_S"
FOLDERS = ("TUNE_RESULT_DIR", "RAY_AIR_LOCAL_CACHE_DIR")
CALLBACKS = "RAY_TUNE_CALLBACKS"


def settings(trainable: str, variables: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return the arguments of `tune.run` that environment variables set.

    Args:
        trainable: The trainable's name.

    Raises:
        ArgumentError: A variable has a value that is not allowed.
    """
    found: dict[str, Any] = {}
    folders = [variables[name] for name in FOLDERS if variables.get(name)]
    if folders:
        found["storage_path"] = folders[0]
    if (changes := changes_directory(variables)) is not None:
        found["chdir_to_trial_dir"] = changes
    if variables.get(NO_LOGGERS) == "1":
        found["files"] = False
    if _is_set(NO_DATE, variables):
        found["name"] = trainable
    if variables.get(GRACE_S):
        found["grace_s"] = _seconds(GRACE_S, variables[GRACE_S])
    if callbacks := list(_callbacks(variables.get(CALLBACKS, ""))):
        found["callbacks"] = callbacks
    return found


def changes_directory(variables: Mapping[str, str] = os.environ) -> bool | None:
    """Return whether trials work in their own folders; None if the variable is not set.

    Raises:
        ArgumentError: The variable is not a whole number, true or false.
    """
    text = variables.get(CHDIR, "").strip().lower()
    if text in ("", "true", "false"):
        return None if not text else text == "true"
    try:
        return bool(int(text))
    except ValueError:
        raise ArgumentError(f"{CHDIR}={text!r}: must be 1 or 0") from None


def catches_signals(variables: Mapping[str, str] = os.environ) -> bool:
    """Return whether the first Ctrl-C lets trials save, rather than ending the run at once."""
    return not _is_set(NO_SIGNALS, variables)


def _is_set(name: str, variables: Mapping[str, str]) -> bool:
    text = variables.get(name) or "0"
    if text not in ("0", "1"):
        raise ArgumentError(f'{name}={text!r}: must be "0" or "1"')
    return text == "1"


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ArgumentError(f"{name}={text!r}: must be a number of seconds, 0 or more, such as 60")
    return seconds


def _callbacks(paths: str) -> Iterator[Callback]:
    from overtone.observers.callbacks.callback import Callback

    for path in filter(None, map(str.strip, paths.split(","))):
        module, _, name = path.rpartition(".")
        try:
            kind = getattr(import_module(module), name)
            if not (isinstance(kind, type) and issubclass(kind, Callback)):
                raise TypeError(f"{path} is not a subclass of Callback")
            callback = kind()
        except (ImportError, AttributeError, ValueError, TypeError) as error:
            what = f"{CALLBACKS}: no callback can be made of {path!r} ({type(error).__name__}: {error})"
            raise ArgumentError(f"{what}; give paths such as my_module.MyCallback, with commas") from error
        yield callback
