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
from overtone.reading.journal_reader import JournalReader, Reports

_NAMED = re.compile(rb'"trial_id":"([^"\\]*)"')
_FACT = re.compile(rb'\{"n":\d+,"e":"(?:header|driver)"')  # which say the format of what follows


def selected(
    journal: str | os.PathLike[str], trials: Collection[str] | None, codec: Codec | None = None
) -> Iterator[Record]:
    """Yield each record about one of `trials`, reduced to them.

    Facts about other trials are left out; an event about another trial becomes a Tick.

    Args:
        trials: The ids of the trials; None for all trials.
        codec: Needed if configs hold values that are not data.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    decode = (codec or Codec()).decode
    wanted = None if trials is None else {trial.encode() for trial in trials}
    for part in JournalReader(Path(journal)).parts():
        if isinstance(part, Reports):
            bodies = [
                body
                for trial, body in zip(part.trials, part.bodies, strict=True)
                if wanted is None or trial in wanted
            ]
        else:
            is_wanted = wanted is None or _FACT.match(part) or not wanted.isdisjoint(_NAMED.findall(part))
            bodies = [part] if is_wanted else []
        for body in bodies:
            if (record := decode(body)) is not None:
                yield record if trials is None else _reduced(record, trials)


def _reduced(record: Record, trials: Collection[str]) -> Record:
    """Return the part of the record about `trials`."""
    event: Any = record.event
    if getattr(event, "trial_id", None) not in trials:
        event = Tick(event.time)
    choices = tuple([one for one in record.choices if not isinstance(one, Noted) and one.trial_id in trials])
    return replace(record, event=event, choices=choices)
