"""Replay of a journal: to the state of its experiment, to its results, or into a controller."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from overtone.core.messages import Command, Record
from overtone.core.table import Row, TrialTable
from overtone.journal.codec import Codec
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.reader import Lines, Plain, as_record
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
    """Return the experiment's state from the journal at `path`, with the last result of each trial.

    Raises:
        StorageError: The journal cannot be read.
    """
    table = TrialTable(keep_metrics, columns)
    for _ in results(path, table, codec):
        pass
    return table


def results(
    path: str | os.PathLike[str], table: TrialTable | None = None, codec: Codec | None = None
) -> Iterator[Row]:
    """Yield a row for every shown result, in order; `t` and `metrics` are those of the result.

    Metrics are decoded when they are read.

    Args:
        table: Updated along the way; afterwards it holds the state of the experiment.

    Raises:
        StorageError: The journal cannot be read.
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
    """An event with another choice today than in the journal; the journal's choice was taken.

    Attributes:
        record: The journal's record.
        now: The choice of today's code.
        then: The journal's choice.
    """

    record: Record
    now: str
    then: str

    def __str__(self) -> str:
        event = type(self.record.event).__name__
        return f"record {self.record.n} ({event}) led to {self.then}; now it would lead to {self.now}"


def replay_into(
    controller: Controller,
    entries: Iterable[Record | Plain],
    on_command: Callable[[Command], None] | None = None,
    on_record: Callable[[Record], None] | None = None,
    codec: Codec | None = None,
    on_plain: Callable[[Plain], None] | None = None,
) -> list[Divergence]:
    """Let a new controller handle the events of a journal again; return the choices that differ.

    Args:
        entries: Entries such as `read(path)`, or `read(path).entries()`, which is faster.
        on_command: Called with each resulting command.
        on_record: Called with each record after it is handled.
        codec: Needed if configs contain values that are not data.
        on_plain: Called instead of `on_record` for plain reports that come as parts, if given.
    """
    divergences: list[Divergence] = []
    codec = codec or Codec()
    again = controller.retake
    for entry in entries:
        if type(entry) is tuple:
            found = again(*entry[2:])
            if found is not None:
                divergences.extend(Divergence(as_record(entry), now, then) for now, then in found)
                if on_plain is not None:
                    on_plain(entry)
                elif on_record is not None:
                    on_record(as_record(entry))
                continue
        record = as_record(entry)
        outcome, differs = controller.replay(record)
        if on_command is not None:
            for command in outcome.commands:
                on_command(command)
        if not differs and outcome.choices != record.choices:  # as text, a tuple equals a list
            now, then = codec.encode_choices(outcome.choices), codec.encode_choices(record.choices)
            differs = [(now, then)] if now != then else []
        divergences.extend(Divergence(record, now, then) for now, then in differs)
        if on_record is not None:
            on_record(record)
    return divergences
