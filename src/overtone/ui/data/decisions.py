"""Decisions, newest first: rulings, requests, failures and ends, page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overtone.core import messages as m
from overtone.journal.codec import Codec
from overtone.journal.lines import header
from overtone.reading.columns.mentions import DECISION, RESULT, ByTrial, bodies
from overtone.reading.columns.opening import ColumnReader
from overtone.reading.columns.trial_columns import TrialColumns
from overtone.reading.request_story import request_step
from overtone.reading.story_text import sentence
from overtone.reading.trial_story import Story, StoryStep
from overtone.regular_files import open_regular
from overtone.space.nesting import with_tuples
from overtone.ui.data.experiment_view import ExperimentView
from overtone.ui.data.plain_json import plain

MOST = 500
_MOST_OF_A_RECORD = 20
_SHOWN = frozenset({"ruled", "waits", "ended", "saved"})
_NUMBER = re.compile(rb'\{"n":(\d{1,18}),')


def facts_of(step: StoryStep) -> dict[str, Any]:
    """Return what a decision's sentence is made of: its numbers, "source", "note" and "bracket"."""
    facts = {name: getattr(step, name) for name in ("value", "cutoff", "rank", "of", "source")}
    why = step.why
    return {**facts, "note": why and (why.note or None), "bracket": why and why.bracket}


def decisions(
    experiment: ExperimentView, before: int | None = None, limit: int = 100, trial_id: str | None = None
) -> dict[str, Any]:
    """Return a page of decisions, newest first.

    Args:
        before: Only those before this record; None for the newest.
        limit: The most records.
        trial_id: Only those about this trial.

    Returns:
        {"decisions": [{"n", "time", "trial_id", "row", "kind", "text", "t", "decision", "rule", "rung",
        "who", and the facts of `facts_of`}], "next": the `before` of the next page, or None}. "kind" is
        "ruled", "ended", "waits", "saved", "asked" or "note".
    """
    followed = experiment.followed
    if trial_id is None:
        offsets = followed.decisions()
    else:
        offsets = followed.live(
            lambda columns, reader: _offsets(reader.mentions(), reader.row(trial_id), DECISION)
        )
    end = len(offsets) if before is None else _count_before(experiment, offsets, before)
    begin = max(0, end - max(1, min(limit, MOST)))
    page = _Page(experiment, trial_id)
    found = [one for offset in offsets[begin:end].tolist() for one in page.entries(offset)]
    return {
        "decisions": plain(found[::-1]),
        "next": page.first if begin else None,
    }


class _Page:
    """Reads decisions.

    Attributes:
        first: The number of the first record that was read.
    """

    rungs: Sequence[float] = ()

    def __init__(self, experiment: ExperimentView, only: str | None) -> None:
        self.journal = experiment.journal
        self.first: int | None = None
        self.header = header(experiment.journal)
        self._live, self._only = experiment.followed.live, only
        self._decode = Codec(decode_config=with_tuples).decode
        goals = self._live(lambda columns, reader: columns.goals)
        self._metric: str | None = goals[0][0] if goals else None
        self._mode: str | None = goals[0][1] if goals else None
        self._told: list[m.Record] = []

    def records(self, trial_id: str) -> Iterator[m.Record]:
        """Return the records that a `Story` takes."""
        return iter(self._told)

    def entries(self, offset: int) -> Iterator[dict[str, Any]]:
        """Yield what a record tells."""
        record = self._record(offset)
        if self.first is None:
            self.first = record.n
        asked = request_step(record, self.header)
        if asked is not None and (self._only is None or asked[0] == self._only):
            who = record.event.who if isinstance(record.event, m.Requested) else ""
            yield self._entry(asked[0], asked[1], who)
        for one in record.choices:
            if isinstance(one, m.Noted) and self._only is None:
                yield self._entry("", StoryStep(record.n, record.event.time, "note", one.text))
        concerned = dict.fromkeys(
            one.trial_id
            for one in record.choices
            if isinstance(one, (m.Ruled, m.Moved, m.Steered)) and self._only in (None, one.trial_id)
        )
        for trial_id in list(concerned)[:_MOST_OF_A_RECORD]:
            for step in self._steps(record, offset, trial_id):
                yield self._entry(trial_id, step)
        if (more := len(concerned) - _MOST_OF_A_RECORD) > 0:
            text = f"and the same for {more} more trials"
            yield self._entry("", StoryStep(record.n, record.event.time, "note", text))

    def _steps(self, record: m.Record, offset: int, trial_id: str) -> list[StoryStep]:
        """Return the decisions on a trial as `overtone why` tells them."""

        def before(columns: TrialColumns, reader: ColumnReader) -> set[int]:
            mentions, row = reader.mentions(), reader.row(trial_id)
            found = (_offsets(mentions, row, kind, offset) for kind in (DECISION, RESULT))
            return {int(one[-1]) for one in found if len(one)}

        context = self._live(before)
        self._told = [*(self._record(one) for one in sorted(context)), record]
        index: Any = self  # it has what a story needs of an index
        story = Story(index, trial_id, self._metric, self._mode, "")
        shown = (one for one in story.steps if one.n == record.n and one.kind in _SHOWN)
        return [one for one in shown if one.text != "ended"]  # its ruling was told

    def _record(self, offset: int) -> m.Record:
        record = self._decode(next(bodies(self.journal, [offset])), True)
        assert record is not None  # only records are mentioned
        return record

    def _entry(self, trial_id: str, step: StoryStep, who: str = "") -> dict[str, Any]:
        why, row = step.why, self._live(lambda columns, reader: reader.row(trial_id))
        return {
            "n": step.n, "time": step.time, "trial_id": trial_id or None, "row": row if row >= 0 else None,
            "kind": step.kind, "text": step.text or sentence(step, self._metric), "t": step.t,
            "decision": step.decision, "rule": None if why is None else why.rule or None,
            "rung": None if why is None else why.rung, "who": who or None, **facts_of(step),
        }  # fmt: skip


def _offsets(mentions: ByTrial, row: int, kind: int, before: int | None = None) -> NDArray[np.int64]:
    """Return the positions of a trial's records of a kind, oldest first."""
    begin, end = np.searchsorted(mentions.rows, [row, row + 1])
    offsets = mentions.offsets[begin:end][mentions.kinds[begin:end] & kind > 0]
    return offsets if before is None else offsets[: np.searchsorted(offsets, before)]


def _count_before(experiment: ExperimentView, offsets: NDArray[np.int64], n: int) -> int:
    """Return how many of these records have a number below `n`."""
    low, high = 0, len(offsets)
    with open_regular(experiment.journal, buffer_bytes=0) as file:
        while low < high:
            middle = (low + high) // 2
            file.seek(int(offsets[middle]))
            found = _NUMBER.match(file.read(32))
            if found is not None and int(found[1]) < n:
                low = middle + 1
            else:
                high = middle
    return low
