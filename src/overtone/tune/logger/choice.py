"""The choice of the callbacks of a run, from the callbacks and loggers that it is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from overtone.tune.callback import CallbackList
from overtone.tune.logger.csv import CSVLoggerCallback
from overtone.tune.logger.json import JsonLoggerCallback
from overtone.tune.logger.logger import LegacyLoggerCallback, LoggerCallback
from overtone.tune.logger.tensorboardx import TBXLoggerCallback
from overtone.tune.logger.unified import DEFAULT_LOGGERS

DEFAULT_CALLBACK_CLASSES = (CSVLoggerCallback, JsonLoggerCallback, TBXLoggerCallback)
"""Callbacks whose files every run writes, TensorBoard's if tensorboardX is installed."""


def chosen(callbacks: Iterable[Any], loggers: Sequence[Any], writes_files: bool) -> tuple[Any, ...]:
    """Return the callbacks that a run calls.

    Args:
        callbacks: The user's callbacks, and lists of callbacks.
        loggers: Classes of loggers, as early versions of the API have them, or callbacks.
        writes_files: Whether the run writes trials' files itself, so that loggers that would write the
            same are left out.
    """
    found = [*_flat(callbacks)]
    classes = []
    for one in loggers:
        if isinstance(one, LoggerCallback):
            found.append(one)
        elif isinstance(one, type) and issubclass(one, LoggerCallback):
            found.append(one())
        elif one is not None:
            classes.append(one)
    if classes:
        found.append(LegacyLoggerCallback(classes))
    return tuple(_without_defaults(found)) if writes_files else tuple(found)


def _flat(callbacks: Iterable[Any]) -> Iterator[Any]:
    for one in callbacks:
        if type(one) is CallbackList:
            yield from _flat(one)
        else:
            yield one


def _without_defaults(callbacks: Iterable[Any]) -> Iterator[Any]:
    for one in callbacks:
        if type(one) is LegacyLoggerCallback:
            classes = [each for each in one.logger_classes if each not in DEFAULT_LOGGERS]
            if len(classes) < len(one.logger_classes):
                one = LegacyLoggerCallback(classes) if classes else None
        if one is not None and type(one) not in DEFAULT_CALLBACK_CLASSES:
            yield one
