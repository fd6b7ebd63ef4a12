"""One picture of a running experiment: lines of styled text that fit the screen; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from overtone.core.goal import lookup
from overtone.core.resources import format_amount
from overtone.core.table import Row
from overtone.core.trial import state_word
from overtone.core.types import cause_of_end
from overtone.observers.columns import headed, inferred_metrics, varying
from overtone.observers.display.plain_text import clean, cut, duration, folded, number, pad, show, width
from overtone.observers.display.progress import Progress
from overtone.observers.display.sentences import (
    configuration,
    location,
    not_shown,
    of_total,
    results,
    unfinished,
)

Line = list[tuple[str, str]]
"""One line: (text, style) pairs; styles are rich's."""

MAX_ROWS = 24
_BAR = 30
_MAX_CELL = 22
_MAX_LOCATION = 48  # an IPv6 address and a process
_GAP = "  "
_LABELS = {"cpu": "CPUs", "gpu": "GPUs"}
_DOT = " · "
_INDENT = "  "
_STYLES = {"running": "cyan", "failed": "red", "stopped": "dim", "paused": "magenta"}


class _Column(NamedTuple):
    header: str
    cell: Callable[[Row], Any]
    right: bool
    most: int = _MAX_CELL


_LOCATION, _TIME = "location", "time"
"""The columns that a narrow screen leaves out for the goal, which is just after them."""


class Frame:
    """Draws frames of one run; columns stay once they were shown, and only grow.

    Args:
        progress: The run.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._widths: dict[str, int] = {}
        self._metrics: list[str] = []
        self._parameters: list[str] = []
        self._has_location = False

    def draw(self, columns: int, rows: int, rate: float | None) -> list[Line]:
        """Return the whole picture in at most `columns` x `rows`.

        Args:
            rate: Results a second, where that is known.
        """
        room = max(columns - 1, 20)  # the last column stays free: writing into it may wrap
        lines = [*self._header(room, rate), *self._best(room, max(2, rows // 4)), []]
        left = rows - len(lines) - 3  # the table's header, what is left out, and one spare
        if left > 0:
            lines += self.table(room, min(left, MAX_ROWS))
        return [_fit(line, room) for line in lines[: max(rows - 1, 1)]]

    def table(self, room: int, n_rows: int) -> list[Line]:
        """Running trials first, then the best that ended or are paused."""
        running = list(self._progress.running.values())
        shown = running[:n_rows]
        shown += self._progress.best_idle(n_rows - len(shown))
        if not shown:
            return []
        columns = self._columns(shown)
        texts = [[_text(column.cell(row), column.most) for row in shown] for column in columns]
        cells = [self._widen(column, texts[i]) for i, column in enumerate(columns)]
        fitting = _how_many_fit([width(column[0]) for column in cells], room)
        headers = [column.header for column in columns]
        goal = headers.index(_TIME) + 1
        for header in (_TIME, _LOCATION, _TIME):  # in a narrow one the goal says more
            at = headers.index(header) if header in headers[:goal] else len(cells)
            if at <= fitting <= goal < len(cells):
                del headers[at], cells[at]
                goal -= 1
                fitting = _how_many_fit([width(column[0]) for column in cells], room)
        lines: list[Line] = [[(_GAP.join(column[0] for column in cells[:fitting]), "bold")]]
        for i, row in enumerate(shown):
            lines.append(
                [(_GAP.join(column[i + 1] for column in cells[:fitting]), _STYLES.get(_word(row), ""))]
            )
        if rest := not_shown(self._progress, shown, room):
            lines.append([(rest, "dim")])
        return lines

    def _header(self, room: int, rate: float | None) -> list[Line]:
        progress = self._progress
        facts = progress.facts
        used, capacity = progress.table.used, progress.table.capacity
        seconds = facts.clock()
        held = [
            f"{format_amount(name, used.get(name, 0.0))}/{format_amount(name, there)} "
            f"{_LABELS.get(name) or clean(name)}"
            for name, there in sorted(capacity.items())
            if name in _LABELS or used.get(name)
        ]
        words = [
            duration(seconds),
            ", ".join(held),
            results(progress) + (f", {rate:.3g}/s" if rate else ""),
        ]
        lines: list[Line] = [
            [(cut(clean(facts.name), room // 2), "bold"), (_DOT + _DOT.join(filter(None, words)), "")],
            *self._bar(room),
        ]
        lines += [[(cut(clean(line), room), "dim")] for line in facts.describe().splitlines()[:3]]
        waits = facts.waits()
        lines += [[(cut(clean(waits), room), "yellow")]] if waits else []
        return lines

    def _best(self, room: int, n_rows: int) -> list[Line]:
        """Return the best trial by last values; its config, wrapped, has up to `n_rows` lines of its own."""
        progress = self._progress
        best = progress.best
        if best is None:
            return []
        head = f"{clean(progress.metric or '')}={number(best.value)}"
        rest = f"  {clean(best.trial_id)} at iteration {best.t} (last value)"
        lines: list[Line] = [[("best ", "bold"), (head, "bold green"), (rest, "")]]
        config = folded(configuration(progress, best.config), room - len(_INDENT))
        if len(config) > n_rows:
            config = [*config[: n_rows - 1], cut(" ".join(config[n_rows - 1 :]), room - len(_INDENT))]
        lines += [[(f"{_INDENT}{line}", "")] for line in config if line]
        if best.best_value != best.value:
            lines.append([(f"on the way {number(best.best_value)} at iteration {best.best_t}", "dim")])
        return lines

    def _bar(self, room: int) -> list[Line]:
        """Return how far the run is, in several lines on a narrow screen."""
        progress = self._progress
        counts, total, ended = progress.counts, progress.total, progress.n_ended
        words = [f"{of_total(progress, ended)} finished", *unfinished(progress)]
        failed = f"{_DOT}{counts['ERROR']} failed" if counts.get("ERROR") else ""
        left = ""
        seconds_left = progress.seconds_left()
        if seconds_left is not None:
            left = f"{_DOT}about {duration(seconds_left)} left"
        text = _DOT.join(words)
        line: Line = [(text, ""), (failed, "red"), (left, "")]
        if width(text + failed + left) > room:
            lines = [""]
            for part in (text + failed + left).split(_DOT):
                longer = f"{lines[-1]}{_DOT}{part}" if lines[-1] else part
                lines = [*lines[:-1], longer] if width(longer) <= room else [*lines, part]
            return [[(one, "")] for one in lines]
        space = min(_BAR, room - width(text + failed + left) - 2)
        if not total or space < 5:
            return [line]
        full = min(int(space * ended / total), space)
        return [[("━" * full, "green"), ("─" * (space - full), "dim"), ("  ", ""), *line]]

    def _columns(self, rows: Sequence[Row]) -> list[_Column]:
        progress, facts = self._progress, self._progress.facts
        metric = progress.metric
        named = headed(facts.metric_columns)
        if facts.metric_columns is None:
            fresh = inferred_metrics((row.metrics for row in rows), 2, [metric or ""])
            self._metrics += [name for name in fresh if name not in self._metrics][: 2 - len(self._metrics)]
            named = headed(([metric] if metric else []) + self._metrics)
        chosen = headed(facts.parameter_columns) or headed(facts.parameters)
        if not chosen:
            fresh = varying(row.config for row in rows)
            self._parameters += [name for name in fresh if name not in self._parameters]
            chosen = headed(self._parameters[:12])
        columns = [
            _Column("trial", lambda row: row.id, False),
            _Column("status", _word, False),
            _Column("iter", lambda row: row.t or None, True),
            _Column(_TIME, lambda row: _seconds(row, progress), True),
        ]
        self._has_location = self._has_location or any(map(location, rows))
        if self._has_location:
            columns.insert(2, _Column(_LOCATION, location, False, _MAX_LOCATION))
        skipped = ("training_iteration", "time_total_s")
        columns += [
            _Column(header, lambda row, name=name: lookup(row.metrics, name), True)  # type: ignore[misc]
            for name, header in named.items()
            if name not in skipped
        ]
        return columns + [
            _Column(header, lambda row, name=name: lookup(row.config, name), True)  # type: ignore[misc]
            for name, header in chosen.items()
        ]

    def _widen(self, column: _Column, texts: list[str]) -> list[str]:
        """Return the header and the cells, as wide as this column ever was."""
        header = cut(clean(column.header), _MAX_CELL, keep_end=True)
        widest = max([self._widths.get(column.header, 0), width(header), *map(width, texts)])
        self._widths[column.header] = widest
        return [pad(text, widest, column.right) for text in (header, *texts)]


def _word(row: Row) -> str:
    """Return a trial's state in one word."""
    return state_word(row.status, cause_of_end(row.why))


def _seconds(row: Row, progress: Progress) -> str | None:
    """Return the trial's training time."""
    seconds = row.metrics.get("time_total_s")
    if not isinstance(seconds, (int, float)):
        if row.started is None:
            return None
        seconds = (progress.table.time if row.ended is None else row.ended) - row.started
    return duration(seconds)


def _text(value: Any, most: int) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return cut(show(value), most)


def _how_many_fit(widths: Iterable[int], room: int) -> int:
    """Return the number of columns that fit side by side, from the left; at least one."""
    used = -len(_GAP)
    fitting = 0
    for one in widths:
        used += one + len(_GAP)
        if used > room:
            break
        fitting += 1
    return max(fitting, 1)


def _fit(line: Line, room: int) -> Line:
    """Return `line` cut to `room` columns."""
    kept: Line = []
    for text, style in line:
        if width(text) > room:
            kept.append((cut(text, room), style))
            break
        kept.append((text, style))
        room -= width(text)
    return kept
