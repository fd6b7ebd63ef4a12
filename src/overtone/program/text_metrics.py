"""Metrics in the text that a program prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overtone.errors import ArgumentError

_PAIR = re.compile(r"""(?<![\w./@-])([\w./@-]+)["']?\s*[=:]\s*["']?(?=([-+]?[\w.]+(?:(?<=[eE])[-+]\d+)?))""")
_NAME = re.compile(r"[A-Za-z_].*")
_NUMBER = re.compile(
    r"[-+]?(?:\d+(?:_\d+)*\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE
)
_LETTER = re.compile(r"[A-Za-z_]")
"""The time of each is linear in the length of the line: programs print lines of megabytes, too."""


class TextMetrics:
    """Finds metrics in lines of text.

    A line that is a JSON object with a number in it has metrics. Without patterns, so has a line with
    `name=number` or `name: number` for one of the metrics in `names`; its other pairs are metrics, too.

    Args:
        names: The metrics that are waited for.
        patterns: Regular expressions whose named groups are metrics: all matches in a line count.

    Raises:
        ArgumentError: A pattern is not a regular expression, or has no named group.
    """

    def __init__(self, names: Sequence[str] = (), patterns: Sequence[str] = ()) -> None:
        self._names = frozenset(names)
        self._patterns = [_compiled(one) for one in patterns]

    def found(self, line: str) -> dict[str, Any]:
        """Return the metrics in a line; {} if there are none."""
        text = line.strip()
        if text[:1] == "{" and text[-1:] == "}":
            value = _object(text)
            if value is not None:
                return value
        metrics: dict[str, Any] = {}
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                groups = match.groupdict().items()
                metrics.update(
                    (name, number(value.rstrip(",;%"))) for name, value in groups if value is not None
                )
        if not self._patterns and any(name in text for name in self._names):
            pairs = dict(_pairs(text))
            metrics = pairs if self._names & pairs.keys() else {}
        return metrics


class Gathered:
    """Joins metrics to results: each line with a wanted metric is a result.

    The metrics of earlier lines go with the next result. If no metric is wanted, each line is a result.

    Attributes:
        seen: The names of all metrics so far.
    """

    def __init__(self, wanted: Sequence[str] = ()) -> None:
        self.seen: dict[str, None] = {}
        self._wanted = frozenset(wanted)
        self._pending: dict[str, Any] = {}

    def add(self, metrics: Mapping[str, Any]) -> dict[str, Any] | None:
        """Add metrics; return the result that they complete, if any."""
        self.seen.update(dict.fromkeys(metrics))
        self._pending.update(metrics)
        if not metrics or (self._wanted and not self._wanted & metrics.keys()):
            return None
        result, self._pending = self._pending, {}
        return result


def _pairs(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the name and the number of each pair; a value with a unit, such as 0.3s, is not a number."""
    for match in _PAIR.finditer(text):
        name, value = _NAME.search(match[1]), _NUMBER.match(match[2])
        if name and value and not _LETTER.search(match[2], value.end()):
            yield name[0], number(value[0])


def number(text: str) -> Any:
    """Return the number that a text is, or the text."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _object(text: str) -> dict[str, Any] | None:
    """Return a JSON object that has a number at its top level or below; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _has_number(value) else None


def _has_number(value: Mapping[str, Any]) -> bool:
    return any(
        (isinstance(one, (int, float)) and not isinstance(one, bool))
        or (isinstance(one, Mapping) and _has_number(one))
        for one in value.values()
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise ArgumentError(f"pattern={pattern!r}: is not a regular expression: {error}") from None
    if not found.groupindex:
        raise ArgumentError(
            f"pattern={pattern!r}: must have a group for each metric, such as 'loss: (?P<loss>[0-9.]+)'"
        )
    return found
