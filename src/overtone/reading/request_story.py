"""The requests that people made of an experiment, from the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from overtone.core import messages as m
from overtone.journal.codec import Codec
from overtone.journal.lines import header as header_in
from overtone.reading.journal_reader import JournalReader
from overtone.reading.request_text import asked, interruption
from overtone.reading.trial_story import StoryStep


def requests(journal: Path, codec: Codec | None = None) -> Iterator[tuple[str, StoryStep]]:
    """Yield each request with the id of its trial, and each interruption and resume; "" for the experiment.

    Other records are not decoded.

    Raises:
        StorageError: The journal cannot be read, or is damaged.
    """
    codec = codec or Codec()
    for part in JournalReader(journal).parts():
        if not isinstance(part, bytes) or not any(name in part[:60] for name in _SHOWN):
            continue
        record = codec.decode(part, True)
        found = None if record is None else request_step(record, header_in(journal))
        if found is not None:
            yield found


def request_step(record: m.Record, header: Mapping[str, Any]) -> tuple[str, StoryStep] | None:
    """Return the request, interruption or resume in a record with its trial's id; None for other records.

    Args:
        header: The journal's header.
    """
    event, trial_id = record.event, ""
    if isinstance(event, m.Requested):
        trial_id, text = _about(event, record), asked(event)
        if event.deferred and event.what != "note":
            text += " (no driver ran: it takes effect at the next resume)"
    elif isinstance(event, m.Interrupted):
        text = interruption(header)
    elif isinstance(event, m.Resumed):
        text = "the experiment was resumed by a new driver"
    else:
        return None
    return trial_id, StoryStep(record.n, event.time, "asked", text)


_SHOWN = tuple(f'"e":"{name}"'.encode() for name in ("requested", "interrupted", "resumed"))


def _about(event: m.Requested, record: m.Record) -> str:
    """Return the trial that a request is about: the new one, if it added one."""
    added = [one.trial_id for one in record.choices if isinstance(one, m.Added)]
    return added[0] if added else event.trial_id
