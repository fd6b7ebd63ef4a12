"""A trial's output, page by page and as it grows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from overtone.errors import StorageError
from overtone.journal.lines import header
from overtone.reading.fetched_output import output_folder
from overtone.reading.trial_output import (
    LONGEST_HEADING,
    NEWEST,
    OLDER,
    STREAMS,
    heading_in,
    is_kept_output,
    log_files,
)
from overtone.regular_files import open_regular
from overtone.ui.data.experiment_view import ExperimentView

MOST_LINES, LONGEST_SHOWN = 2000, 20_000
"""Lines of a page, and letters of a line."""

_FETCHED_S = 15.0  # as often as a driver brings output to a URL
_PAGE_BYTES = 1 << 20
_OFFSET_BITS, _PAIR_BITS = 36, 26


def output_page(
    experiment: ExperimentView,
    trial_id: str,
    after: int | None = None,
    before: int | None = None,
    limit: int = 200,
) -> dict[str, Any]:
    """Return lines of a trial's output, oldest first; by default the last ones.

    Args:
        after: Only what was printed after a page with this "after".
        before: Only what was printed before a page with this "before".
        limit: The most lines.

    Returns:
        {"lines": [{"stream", "text", "cut": letters that were left out}], "before": None at the beginning,
        "after", "reason": why there is nothing, or ""}. A line that is not ended waits until it is.
    """
    limit = max(1, min(limit, MOST_LINES))
    facts = header(experiment.journal)
    names = log_files(facts)
    folder = _folder(experiment.journal, trial_id, names)
    parts = _kept(folder, trial_id) if names is None else _files(folder, names)
    source: _Kept | _Pair = _Kept(parts) if names is None or len(parts) == 1 else _Pair(parts)
    page = source.after(after, limit) if after is not None else source.before(before, limit)
    reason = "" if parts else _nothing(facts)
    return {
        "lines": [_line(stream, text) for stream, text in page.lines],
        "before": page.begin, "after": page.end, "reason": reason,
    }  # fmt: skip


@dataclass(slots=True)
class _Part:
    """A file with output. `stream` is "" if headings tell; `own_id` is the trial in headings."""

    path: Path
    size: int
    inode: int
    stream: str = ""
    own_id: str = ""

    def lines(self, begin: int, end: int) -> tuple[list[tuple[str, bytes]], list[int], int]:
        """Return the whole lines between two places, where each begins, and the end of the last."""
        with open_regular(self.path, follow_links=False, buffer_bytes=0) as file:
            stream = self.stream or _stream_at(file, begin, self.own_id)
            file.seek(begin)
            data = _read(file, end - begin)
        if len(data) >= _PAGE_BYTES and b"\n" not in data:  # one line that is longer than a page
            return [(stream, data)], [begin], begin + len(data)
        found, places, at = [], [], 0
        while (stop := data.find(b"\n", at)) >= 0:
            line = data[at:stop]
            told = heading_in(line, self.own_id) if not self.stream and line.startswith(b"==> ") else ""
            if told:
                stream = told
            else:
                found.append((stream, line))
                places.append(begin + at)
            at = stop + 1
        return found, places, begin + at


@dataclass(slots=True)
class _Found:
    lines: list[tuple[str, bytes]]
    begin: int | None
    end: int


class _Kept:
    """Parts that follow each other. A place is an offset in a part, which its inode marks."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts

    def before(self, place: int | None, limit: int) -> _Found:
        number, end = (len(self._parts) - 1, 1 << 62) if place is None else self._at(place)
        lines: list[tuple[str, bytes]] = []
        begin, newest = None, place or 0
        while number >= 0 and len(lines) < limit:
            part = self._parts[number]
            end = min(end, part.size)
            start = _page_begin(part, end)
            found, places, last = part.lines(start, end)
            if place is None and not newest:
                newest = _place(part, last)
            kept = found[-(limit - len(lines)) :]
            lines = kept + lines
            end = places[-len(kept)] if kept else start
            begin = _place(part, end)
            if self._is_first(number, end):
                number, end = number - 1, 1 << 62
                begin = _place(self._parts[number], self._parts[number].size) if number >= 0 else None
        return _Found(lines, begin, newest)

    def _is_first(self, number: int, at: int) -> bool:
        """Return whether nothing but a heading is before a place in a part."""
        part = self._parts[number]
        return at <= LONGEST_HEADING and not part.lines(0, at)[0]

    def after(self, place: int, limit: int) -> _Found:
        number, begin = self._at(place)
        if number < 0:
            number, begin = 0, 0
        lines: list[tuple[str, bytes]] = []
        end = place
        while number < len(self._parts) and len(lines) < limit:
            part = self._parts[number]
            found, places, last = part.lines(min(begin, part.size), min(begin + _PAGE_BYTES, part.size))
            room = limit - len(lines)
            lines += found[:room]
            last = places[room] if len(found) > room else last
            end = _place(part, last)
            if last < part.size and found:
                begin = last
            else:
                number, begin = number + 1, 0
        return _Found(lines, None, end)

    def _at(self, place: int) -> tuple[int, int]:
        mark, offset = place >> _OFFSET_BITS, place & ((1 << _OFFSET_BITS) - 1)
        for number, part in enumerate(self._parts):
            if part.inode & 0xFFFF == mark:
                return number, offset
        return -1, 0


class _Pair:
    """A file for each stream. A place has both offsets, without their higher bits."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts

    def before(self, place: int | None, limit: int) -> _Found:
        ends = [part.size for part in self._parts] if place is None else self._offsets(place)
        lines: list[tuple[str, bytes]] = []
        begins, lasts = [], []
        for part, end in zip(self._parts, ends, strict=True):
            start = _page_begin(part, end)
            found, places, last = part.lines(start, end)
            kept = found[-max(1, limit // len(self._parts)) :]
            lines += kept
            begins.append(places[-len(kept)] if kept else start)
            lasts.append(last)
        is_far = any(part.size - at >= 1 << _PAIR_BITS for part, at in zip(self._parts, begins, strict=True))
        begin = None if is_far or not any(begins) else self._place(begins)
        return _Found(lines, begin, self._place(lasts) if place is None else place)

    def after(self, place: int, limit: int) -> _Found:
        lines: list[tuple[str, bytes]] = []
        ends = []
        for part, begin in zip(self._parts, self._offsets(place), strict=True):
            found, places, last = part.lines(begin, min(begin + _PAGE_BYTES, part.size))
            lines += found[:limit]
            ends.append(places[limit] if len(found) > limit else last)
        return _Found(lines, None, self._place(ends))

    def _offsets(self, place: int) -> list[int]:
        step, found = 1 << _PAIR_BITS, []
        for i, part in enumerate(self._parts):
            low = place >> (_PAIR_BITS * i) & (step - 1)
            found.append(low + max(0, part.size - low) // step * step if low <= part.size else part.size)
        return found

    @staticmethod
    def _place(offsets: Sequence[int]) -> int:
        return sum((one & ((1 << _PAIR_BITS) - 1)) << (_PAIR_BITS * i) for i, one in enumerate(offsets))


def _place(part: _Part, offset: int) -> int:
    return (part.inode & 0xFFFF) << _OFFSET_BITS | offset


def _folder(journal: Path, trial_id: str, names: tuple[str, str] | None) -> Path:
    """Return the folder with a trial's output.

    Raises:
        StorageError: Its id names another place.
    """
    folder, experiment = journal.parent / trial_id, journal.parent
    if os.path.dirname(os.path.realpath(folder)) != os.path.realpath(experiment):
        raise StorageError(f"{trial_id!r} has no folder of its own, and so no output")
    return output_folder(journal, trial_id, names, _FETCHED_S)


def _kept(folder: Path, trial_id: str) -> list[_Part]:
    found = []
    for name in (OLDER, NEWEST):
        part = _part(folder / name, "", trial_id)
        if part is not None:
            with open_regular(part.path, follow_links=False) as file:
                if is_kept_output(file.read(LONGEST_HEADING), trial_id):
                    found.append(part)
    return found


def _files(folder: Path, names: tuple[str, str]) -> list[_Part]:
    found = []
    for name, stream in {name: stream for stream, name in zip(STREAMS, names, strict=True)}.items():
        if os.path.basename(name) == name:
            part = _part(folder / name, STREAMS[0] if names[0] == names[1] else stream, "")
            found += [] if part is None else [part]
    return found


def _part(path: Path, stream: str, trial_id: str) -> _Part | None:
    with suppress(OSError, StorageError), open_regular(path, follow_links=False) as file:
        status = os.fstat(file.fileno())
        return _Part(path, status.st_size, status.st_ino, stream, trial_id)
    return None


def _read(file: BinaryIO, count: int) -> bytes:
    data = b""
    while len(data) < count and (more := file.read(count - len(data))):
        data += more
    return data


def _page_begin(part: _Part, end: int) -> int:
    """Return where a page that ends at `end` begins: at a line, unless the line is longer than a page."""
    place = max(0, end - _PAGE_BYTES)
    if place == 0:
        return 0
    with open_regular(part.path, follow_links=False, buffer_bytes=0) as file:
        file.seek(place - 1)
        found = _read(file, end - place + 1).find(b"\n")
    return place + found if 0 <= found < end - place else place


def _stream_at(file: BinaryIO, place: int, trial_id: str) -> str:
    """Return the stream of the line at a place: that of the last heading before it."""
    end = place
    while end > 0:
        begin = max(0, end - _PAGE_BYTES)
        file.seek(begin)
        lines = _read(file, min(place, end + LONGEST_HEADING) - begin).split(b"\n")
        for line in reversed(lines):
            if line.startswith(b"==> ") and (stream := heading_in(line, trial_id)):
                return stream
        end = begin
    return STREAMS[0]


def _line(stream: str, line: bytes) -> dict[str, Any]:
    text = line.decode("utf-8", "replace")
    return {"stream": stream, "text": text[:LONGEST_SHOWN], "cut": max(0, len(text) - LONGEST_SHOWN)}


def _nothing(facts: dict[str, Any]) -> str:
    """Return why there is no output."""
    parts = facts.get("parts", {})
    if parts.get("options", {}).get("captures_output") is False:
        return "The output was not kept: the experiment has captures_output=False."
    if parts.get("engine") in ("Inline", "Simulated"):
        return f"The output was not kept: the engine {parts['engine']} runs trials inside the driver."
    return "The trial has printed nothing, or its output is on the machine that runs it."
