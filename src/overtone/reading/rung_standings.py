"""Ranks of trials at a rung over time: computed from results, checked against recorded decisions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Any

from overtone.core.goal import is_number, lookup, real
from overtone.core.messages import Record, Reported, Ruled
from overtone.journal.codec import Codec
from overtone.reading.drawn_brackets import BracketOf, unknown_bracket
from overtone.reading.journal_reader import JournalReader, Reports, iteration_of
from overtone.reading.rung_places import RankedPlaces, RungPlace, RungPlaces

_ITERATIONS = "training_iteration"
_Group = tuple[float, int | None]  # a rung, and the bracket of the trials that are compared there


class Standings:
    """Follows the records of an experiment, and notes each trial's value at each rung.

    Schedulers log how many trials they compared, and not always which. Where the results up to
    every ruling at a rung are as many as it says, they are the ones that were compared. Trials of
    different brackets are not compared with each other.

    Args:
        rungs: Where trials were judged.
        metric, mode: What they were judged by.
        clock: The scheduler's `time_attr`.
        bracket_of: Returns the bracket that was drawn for a trial.
    """

    def __init__(
        self, rungs: Sequence[float], metric: str, mode: str, clock: str,
        bracket_of: BracketOf = unknown_bracket,
    ) -> None:  # fmt: skip
        self._rungs, self._bracket_of = sorted(rungs), bracket_of
        self._places: defaultdict[_Group, RungPlaces] = defaultdict(RungPlaces)
        self._n_passed: dict[str, int] = {}  # the rungs that each trial has come to
        self._bracket: dict[str, int] = {}  # of each trial of which it is known
        self._judged: set[_Group] = set()
        self._doubtful: set[_Group] = set()
        self._metric, self._clock = metric, clock
        self._sign = -1.0 if mode == "min" else 1.0

    @classmethod
    def of(
        cls, journal: Path, rungs: Iterable[float], metric: str, mode: str, clock: str,
        bracket_of: BracketOf = unknown_bracket,
    ) -> Standings:  # fmt: skip
        """Return the standings at the end of a journal.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        standings = cls(sorted(rungs), metric, mode, clock, bracket_of)
        standings.read(JournalReader(journal))
        return standings

    def read(self, reader: JournalReader) -> None:
        """Read on.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        decode, is_counted = Codec().decode, self._clock == _ITERATIONS
        ends, n_passed = [*self._rungs, inf], self._n_passed.get
        for part in reader.parts():
            if isinstance(part, Reports):
                for trial, body, head in zip(*part, strict=True):
                    if is_counted and iteration_of(body, head.end()) < ends[n_passed(trial.decode(), 0)]:
                        continue  # Most results are between two rungs.
                    record = decode(body, True)
                    assert record is not None
                    self.apply(record)
            # The others tell nothing of rungs, and would take most of the time.
            elif b'"e":"reported"' in part[:40] or b'"c":"ruled"' in part:
                record = decode(part, True)
                assert record is not None  # it is a report, or has a choice
                self.apply(record)

    def apply(self, record: Record) -> None:
        """Take note of a result, and check what rulings say against what was seen."""
        event = record.event
        rulings = [(one.trial_id, one.why) for one in record.choices if isinstance(one, Ruled) and one.why]
        for trial_id, why in rulings:
            if why.bracket is not None:
                self._bracket[trial_id] = why.bracket
        if type(event) is Reported:
            self._on_report(record.n, event)
        for _, why in rulings:
            if why.rung is None:
                continue
            group = why.rung, why.bracket
            self._judged.add(group)
            # A bracket is judged as a whole, when the last of its trials has come and is saved.
            is_at_once = type(event) is Reported or why.bracket is not None
            if why.of is not None and not (is_at_once and why.of == len(self._places[group])):
                self._doubtful.add(group)

    def _on_report(self, n: int, event: Reported) -> None:
        clock: Any = event.t
        n_passed = self._n_passed.get(event.trial_id, 0)
        if n_passed == len(self._rungs):
            return
        if self._clock != _ITERATIONS:
            clock = lookup(event.metrics, self._clock)
        if not is_number(clock) or clock < self._rungs[n_passed]:
            return
        value = lookup(event.metrics, self._metric)
        known = real(value) if is_number(value) else None
        bracket = self.bracket(event.trial_id)
        while n_passed < len(self._rungs) and clock >= self._rungs[n_passed]:
            group = self._rungs[n_passed], bracket
            self._places[group].append(n, event.time, event.trial_id, event.t, known)
            n_passed += 1
        self._n_passed[event.trial_id] = n_passed

    def at(self, rung: float, n: int, bracket: int | None = None) -> RankedPlaces | None:
        """Return the places at a rung up to record `n`, best first; None where they are in doubt.

        Args:
            bracket: Of the trials; None if the scheduler has one.
        """
        group = rung, bracket
        if group in self._doubtful or group not in self._places:
            return None
        return self._places[group].ranked(n, self._sign)

    def bracket(self, trial_id: str) -> int | None:
        """Return the number of a trial's bracket; None if it was not drawn, and no ruling names it."""
        if trial_id not in self._bracket and (drawn := self._bracket_of(trial_id)) is not None:
            self._bracket[trial_id] = drawn
        return self._bracket.get(trial_id)

    def passed(self, trial_id: str) -> list[tuple[float, RungPlace]]:
        """Return the rungs of its bracket that a trial came to, each with its place there."""
        rungs, bracket = self._rungs[: self._n_passed.get(trial_id, 0)], self.bracket(trial_id)
        certain = self._judged - self._doubtful
        sure = (rung for rung in rungs if (rung, bracket) in certain)
        found = ((rung, self._places[rung, bracket]) for rung in sure)
        return [(rung, places[i]) for rung, places in found if (i := places.index(trial_id)) >= 0]


class StandingsOnDemand:
    """The standings of an experiment, which read on when they are asked for.

    Args:
        journal: The file.
        metric, mode, clock, bracket_of: See `Standings`.
    """

    def __init__(
        self, journal: Path, metric: str, mode: str, clock: str, bracket_of: BracketOf = unknown_bracket
    ) -> None:
        self._journal, self._goal = journal, (metric, mode, clock, bracket_of)
        self._rungs: list[float] = []
        self._standings: Standings | None = None
        self._reader = JournalReader(journal)

    def read(self, rungs: Iterable[float]) -> Standings:
        """Return the standings at these rungs, as far as the journal goes now.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        wanted = sorted(rungs)
        standings, self._standings = self._standings, None  # It is half done if reading fails.
        if standings is None or wanted != self._rungs:
            standings, self._rungs = Standings(wanted, *self._goal), wanted
            self._reader = JournalReader(self._journal)
        standings.read(self._reader)
        self._standings = standings
        return standings
