"""Loggers by the names that users import. JSON lines, CSV and TensorBoard are written anyway."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.observers.callbacks import LoggerCallback

__all__ = [
    "DEFAULT_LOGGERS",
    "CSVLogger",
    "CSVLoggerCallback",
    "JsonLogger",
    "JsonLoggerCallback",
    "LoggerCallback",
    "TBXLogger",
    "TBXLoggerCallback",
    "pretty_print",
]


class JsonLoggerCallback(LoggerCallback):
    """Accepted: every run writes `result.json`."""


class CSVLoggerCallback(LoggerCallback):
    """Accepted: every run writes `progress.csv`."""


class TBXLoggerCallback(LoggerCallback):
    """Accepted: every run writes event files where TensorBoard's library is installed."""


JsonLogger = JsonLoggerCallback
CSVLogger = CSVLoggerCallback
TBXLogger = TBXLoggerCallback

DEFAULT_LOGGERS = (JsonLoggerCallback, CSVLoggerCallback, TBXLoggerCallback)
"""What every run writes."""


def pretty_print(result: Mapping[str, Any]) -> str:
    """A result as text, a line a value, without the config and what is None."""
    return _lines({key: value for key, value in result.items() if key != "config"}, "")


def _lines(values: Mapping[str, Any], indent: str) -> str:
    text = ""
    for key, value in values.items():
        if isinstance(value, Mapping):
            text += f"{indent}{key}:\n{_lines(value, indent + '  ')}"
        elif value is not None:
            text += f"{indent}{key}: {value}\n"
    return text
