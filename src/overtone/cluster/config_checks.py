"""Checks of the values in a config."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from overtone.cluster.config import ConfigError, config_error
from overtone.cluster.durations import seconds_of
from overtone.lazy import nearest

MAX_NODES = 10_000


class Document:
    """The checks of single values in a config; their errors name the file and the line."""

    def __init__(self, source: Path, lines: Mapping[str, int]) -> None:
        self.source, self.lines = source, lines

    def error(self, key: str, rule: str, *value: Any) -> ConfigError:
        """Return the error about a key; see `config_error`."""
        return config_error(self.source, self.lines, key, rule, *value)

    def mapping(self, key: str, value: Any, rule: str) -> dict[str, Any]:
        """Return a mapping with text keys.

        Raises:
            ConfigError: It is not.
        """
        if not isinstance(value, Mapping):
            raise self.error(key, rule, value)
        for name in value:
            if not isinstance(name, str):
                raise self.error(below(key, str(name)), "a key must be a text: put it in quotes")
        return dict(value)

    def check_keys(
        self, key: str, value: Mapping[str, Any], allowed: Collection[str], where: str = ""
    ) -> None:
        """Refuse keys that are not in `allowed`.

        Raises:
            ConfigError: There is such a key.
        """
        for name in value:
            if name not in allowed:
                near = nearest(name, allowed)
                keys = "" if near and len(allowed) > 12 else f"; its keys: {', '.join(allowed)}"
                where = where or key or "a cluster's config"
                raise self.error(below(key, name), f"is not a key of {where}{near}{keys}")

    def text(self, key: str, value: Any, example: str) -> str:
        """Return a text of one line, without space around it.

        Raises:
            ConfigError: It is not.
        """
        if not isinstance(value, str):
            quote = ": put it in quotes" if isinstance(value, (bool, int, float)) else ""
            raise self.error(key, f"must be a text, such as {example}{quote}", value)
        if not value.strip():
            raise self.error(key, f"must not be empty: write a value, such as {example}", value)
        if "\n" in value.strip() or "\0" in value:
            raise self.error(key, f"must be one line, such as {example}", value)
        return value.strip()

    def whole_number(self, key: str, value: Any, example: str, least: int = 0, most: int = MAX_NODES) -> int:
        """Return a whole number in a range.

        Raises:
            ConfigError: It is not.
        """
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            rule = f"must be a whole number from {least} to {most:,}, such as {example}"
            raise self.error(key, rule, value)
        return value

    def positive(self, key: str, value: Any, rule: str) -> float:
        """Return a finite number above 0.

        Raises:
            ConfigError: It is not.
        """
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise self.error(key, rule, value)
        return float(value)

    def duration(self, key: str, value: Any, example: str) -> float:
        """Return the seconds of a duration.

        Raises:
            ConfigError: It is not.
        """
        seconds = seconds_of(value)
        if seconds is None or not 1 <= seconds < 366 * 86400:
            raise self.error(key, f"must be a duration from 1s to 365d, such as {example}", value)
        return seconds


def below(key: str, name: str) -> str:
    """Return the name of a key below another one, such as "workers.max"."""
    return f"{key}.{name}" if key else name
