"""Incremental reading of a journal: each reading goes on where the last one ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overtone.journal.lines import Lines, batch_bytes
from overtone.journal.plain_reports import PLAIN_TRIAL


class Reports(NamedTuple):
    """Successive reports without choices and checkpoints, the bulk of every journal.

    Attributes:
        trials: The id of each report's trial.
        bodies: The unsealed line of each report.
        heads: The part of each line before its metrics, which end with the line.
    """

    trials: Sequence[bytes]
    bodies: Sequence[bytes]
    heads: Sequence[re.Match[bytes]]

    def texts(self) -> dict[str, list[str]]:
        """Return the metrics of each trial's reports, as JSON texts without line breaks."""
        found: dict[bytes, list[bytes]] = {}
        for trial, body, head in zip(*self, strict=True):
            found.setdefault(trial, []).append(body[head.end() :])
        return {trial.decode(): b"\n".join(texts).decode().split("\n") for trial, texts in found.items()}


def iteration_of(body: bytes, end: int) -> int:
    """Return the iteration of a plain report whose metrics begin at `end`: it is before `,"metrics":`."""
    return int(body[body.rfind(b":", 0, end - 11) + 1 : end - 11])


def runs(bodies: Sequence[bytes]) -> Iterator[Reports | bytes]:
    """Yield each run of plain reports at once, and other lines one by one."""
    heads: list[Any] = [PLAIN_TRIAL.match(body) for body in bodies]  # it matches any line
    trials = [head[1] for head in heads]
    begin = 0
    for at in [*(i for i, trial in enumerate(trials) if trial is None), len(bodies)]:
        if at > begin:
            yield Reports(trials[begin:at], bodies[begin:at], heads[begin:at])
        if at < len(bodies):
            yield bodies[at]
        begin = at + 1


class JournalReader:
    """Reads the verified lines of a journal, run by run.

    Args:
        journal: The file.
        offset, n: The place of an earlier reader, to go on from there.

    Attributes:
        offset: The end of what was read, in bytes; while a part is handled, its beginning.
        n: The number of the last line before `offset`; the header is line 1.
    """

    def __init__(self, journal: Path, offset: int = 0, n: int = 0) -> None:
        self.journal = journal
        self.offset = offset
        self.n = n

    def parts(self) -> Iterator[Reports | bytes]:
        """Yield what was recorded since, as `runs` does.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        for bodies in Lines(self.journal, self.offset, self.n).batches():
            for part in runs(bodies):
                yield part
                handled = part.bodies if isinstance(part, Reports) else [part]
                self.offset += batch_bytes(handled)
                self.n += len(handled)
