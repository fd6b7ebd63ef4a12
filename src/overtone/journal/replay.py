"""Replay of a journal into a controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overtone.core.messages import Command, Record
from overtone.journal.codec import Codec
from overtone.journal.reader import Plain, as_record

if TYPE_CHECKING:
    from overtone.core.controller import Controller


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
