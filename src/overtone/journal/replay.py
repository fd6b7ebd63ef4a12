"""Replays a journal: to the state of its experiment, to its results, or into a controller."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from overtone.core.messages import Choice, Record
from overtone.core.table import Row, TrialTable
from overtone.journal.codec import PLAIN_REPORT, Codec
from overtone.journal.reader import Lines, read
from overtone.journal.text import LazyMetrics

if TYPE_CHECKING:
    from overtone.core.controller import Controller


def replay(
    path: str | os.PathLike[str],
    *,
    keep_metrics: Literal["live", "all"] = "all",
    columns: Sequence[str] = (),
    codec: Codec | None = None,
) -> TrialTable:
    """The state of the experiment whose journal is at `path`, with the last result of each trial.

    Raises:
        StorageError: It cannot be read.
    """
    table = TrialTable(keep_metrics, columns)
    for _ in results(path, table, codec):
        pass
    return table


def results(
    path: str | os.PathLike[str], table: TrialTable | None = None, codec: Codec | None = None
) -> Iterator[Row]:
    """Every result that was shown, in order: the trial, whose `t` and `metrics` are those of this result.

    Metrics are decoded when they are looked at.

    Args:
        table: Follows along, and afterwards holds the state of the experiment.

    Raises:
        StorageError: It cannot be read.
    """
    table = table if table is not None else TrialTable()
    decode = (codec or Codec()).decode
    for body in Lines(path):
        plain = PLAIN_REPORT.match(body)
        if plain is not None:  # the bulk of every journal: no message is built for it
            n, time, trial_id, _, t = plain.groups()
            yield table.show(int(n), float(time), trial_id.decode(), int(t), LazyMetrics(body[plain.end() :]))
            continue
        record = decode(body, lazy=True)
        row = table.apply(record) if record is not None else None
        if row is not None:
            yield row


@dataclass(frozen=True, slots=True)
class Divergence:
    """A record whose event leads to other choices now than it did.

    Attributes:
        record: What the journal has.
        choices: What the controller chose.
    """

    record: Record
    choices: tuple[Choice, ...]

    def __str__(self) -> str:
        was = ", ".join(map(repr, self.record.choices)) or "nothing"
        now = ", ".join(map(repr, self.choices)) or "nothing"
        event = type(self.record.event).__name__
        return f"record {self.record.n} ({event}) led to {was}; now it leads to {now}"


def replay_into(
    controller: Controller, path: str | os.PathLike[str], codec: Codec | None = None
) -> list[Divergence]:
    """Let a fresh controller handle every event of a journal; where it chose otherwise.

    Choices are compared as the journal writes them, so that a tuple equals a list.
    """
    codec = codec or Codec()
    divergences: list[Divergence] = []
    for record in read(path, codec=codec):
        choices = controller.handle(record.event).choices
        if codec.encode_choices(choices) != codec.encode_choices(record.choices):
            divergences.append(Divergence(record, choices))
    return divergences
