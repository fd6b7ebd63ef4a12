"""The records of some trials alone, found in a journal without decoding all the others."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from overtone.core.messages import Noted, Record, Tick
from overtone.journal.codec import Codec
from overtone.journal.text import loads
from overtone.reading.journal_reader import JournalReader, Reports

_NAMED = re.compile(rb'"trial_id":"([^"\\]*)"')
_TIME = re.compile(rb'"time":([-+.e\d]+)')
_FACT = re.compile(rb'\{"n":\d+,"e":"(header|driver|end)"')


def selected(
    journal: str | os.PathLike[str], trials: Collection[str] | None, codec: Codec | None = None
) -> Iterator[tuple[Record, float]]:
    """Yield each record about one of `trials`, reduced to them, and its driver's beginning.

    Facts about other trials are left out; an event about another trial becomes a
    Tick. The beginning is the wall time, in seconds since 1970, at which the experiment's
    clock would have been 0 by the clock of the driver that wrote the record.

    Args:
        trials: The ids of the trials; None for all trials.
        codec: Needed if configs hold values that are not data.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    decode = (codec or Codec()).decode
    wanted = None if trials is None else {trial.encode() for trial in trials}
    began, last = 0.0, b""
    for part in JournalReader(Path(journal)).parts():
        if isinstance(part, Reports):
            bodies = [
                body
                for trial, body in zip(part.trials, part.bodies, strict=True)
                if wanted is None or trial in wanted
            ]
        elif (fact := _FACT.match(part)) is not None:
            decode(part)
            if fact[1] != b"end":
                time = _TIME.search(last)
                began = _wall(part) - (float(time[1]) if time is not None else 0.0)
            continue
        else:
            bodies = [part] if wanted is None or not wanted.isdisjoint(_NAMED.findall(part)) else []
        last = part.bodies[-1] if isinstance(part, Reports) else part
        for body in bodies:
            record = decode(body)
            assert record is not None  # it is no fact
            yield record if trials is None else _reduced(record, trials), began


def _wall(body: bytes) -> float:
    facts: dict[str, Any] = loads(body.decode() + "}")
    wall = facts.get("wall")
    return float(wall) if isinstance(wall, (int, float)) else 0.0


def _reduced(record: Record, trials: Collection[str]) -> Record:
    """Return the part of the record about `trials`."""
    event: Any = record.event
    if getattr(event, "trial_id", None) not in trials:
        event = Tick(event.time)
    choices = tuple([one for one in record.choices if not isinstance(one, Noted) and one.trial_id in trials])
    return replace(record, event=event, choices=choices)
