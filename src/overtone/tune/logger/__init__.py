"""Loggers by the names that users import. JSON lines, CSV and TensorBoard files are always written."""

from overtone.tune.logger.csv import CSVLogger, CSVLoggerCallback
from overtone.tune.logger.json import JsonLogger, JsonLoggerCallback
from overtone.tune.logger.logger import (
    LegacyLoggerCallback,
    Logger,
    LoggerCallback,
    NoopLogger,
    pretty_print,
)
from overtone.tune.logger.tensorboardx import TBXLogger, TBXLoggerCallback
from overtone.tune.logger.unified import DEFAULT_LOGGERS, UnifiedLogger

__all__ = [
    "DEFAULT_LOGGERS",
    "CSVLogger",
    "CSVLoggerCallback",
    "JsonLogger",
    "JsonLoggerCallback",
    "LegacyLoggerCallback",
    "Logger",
    "LoggerCallback",
    "NoopLogger",
    "TBXLogger",
    "TBXLoggerCallback",
    "UnifiedLogger",
    "pretty_print",
]
