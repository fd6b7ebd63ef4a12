"""Incremental reading of a journal: each reading goes on where the last one ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from overtone.journal.lines import Lines, batch_bytes
from overtone.journal.plain_reports import PLAIN_TRIAL


class Reports(NamedTuple):
    """Successive reports without choices and checkpoints, the bulk of every journal.

    Attributes:
        trials: The id of each report's trial.
        bodies: The unsealed line of each report.
    """

    trials: Sequence[bytes]
    bodies: Sequence[bytes]


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
        """Yield what was recorded since: each run of plain reports at once, other lines one by one.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        trial_of = PLAIN_TRIAL.match
        for bodies in Lines(self.journal, self.offset, self.n).batches():
            trials: list[bytes | None] = [trial_of(body)[1] for body in bodies]  # type: ignore[index]  # any
            begin = 0
            for at in [*(i for i, trial in enumerate(trials) if trial is None), len(bodies)]:
                if at > begin:
                    run = bodies[begin:at]
                    yield Reports(trials[begin:at], run)  # type: ignore[arg-type]  # None is at `at`
                    self._pass(run)
                if at < len(bodies):
                    yield bodies[at]
                    self._pass(bodies[at : at + 1])
                begin = at + 1

    def _pass(self, bodies: Sequence[bytes]) -> None:
        self.offset += batch_bytes(bodies)
        self.n += len(bodies)
