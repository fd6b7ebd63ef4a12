"""Ranks of trials at a rung over time: computed from results, checked against recorded decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overtone.core.goal import is_number, lookup, real
from overtone.core.messages import Record, Reported, Ruled
from overtone.journal.codec import Codec
from overtone.journal.lines import Lines


class Place(NamedTuple):
    """A trial's first result at a rung or beyond it.

    Attributes:
        n: The record that has it.
        time: When it was reported, in seconds that the experiment has run.
        trial_id: Whose it is.
        t: Its training_iteration.
        value: The metric; None where it was no number.
    """

    n: int
    time: float
    trial_id: str
    t: int
    value: float | None


class Standings:
    """Follows the records of an experiment, and notes each trial's value at each rung.

    Schedulers log how many trials they compared, and not always which. Where the results up to
    every ruling at a rung are as many as it says, they are the ones that were compared.

    Args:
        rungs: Where trials were judged.
        metric, mode: What they were judged by.
        clock: The scheduler's `time_attr`.
    """

    def __init__(self, rungs: Sequence[float], metric: str, mode: str, clock: str) -> None:
        self._places: dict[float, dict[str, Place]] = {rung: {} for rung in rungs}
        self._doubtful: set[float] = set()
        self._metric, self._clock = metric, clock
        self._sign = -1.0 if mode == "min" else 1.0

    @classmethod
    def of(cls, journal: Path, rungs: Iterable[float], metric: str, mode: str, clock: str) -> Standings:
        """Return the standings at the end of a journal.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        standings, decode = cls(sorted(rungs), metric, mode, clock), Codec().decode
        for body in Lines(journal):
            # the others tell nothing of rungs, and would take most of the time
            if b'"e":"reported"' in body[:40] or b'"c":"ruled"' in body:
                record = decode(body, True)
                assert record is not None  # it is a report, or has a choice
                standings.apply(record)
        return standings

    def apply(self, record: Record) -> None:
        """Take note of a result, and check what rulings say against what was seen."""
        event = record.event
        if type(event) is Reported:
            self._on_report(record.n, event)
        for choice in record.choices:
            why = choice.why if isinstance(choice, Ruled) else None
            if why is None or why.rung is None or why.of is None:
                continue
            if type(event) is not Reported or why.of != len(self._places[why.rung]):
                self._doubtful.add(why.rung)

    def _on_report(self, n: int, event: Reported) -> None:
        clock: Any = event.t
        for rung, places in self._places.items():
            if event.trial_id in places:
                continue
            if self._clock != "training_iteration":
                clock = lookup(event.metrics, self._clock)
            if is_number(clock) and clock >= rung:
                value = lookup(event.metrics, self._metric)
                known = real(value) if is_number(value) else None
                places[event.trial_id] = Place(n, event.time, event.trial_id, event.t, known)

    def at(self, rung: float, n: int) -> list[Place]:
        """Return the places at a rung up to record `n`, best first; empty where they are in doubt."""
        if rung in self._doubtful:
            return []
        there = [one for one in self._places.get(rung, {}).values() if one.n <= n]
        return sorted(there, key=lambda one: self._score(one.value), reverse=True)

    def passed(self, trial_id: str) -> list[tuple[float, Place]]:
        """Return the rungs that a trial came to, each with its place there."""
        found = [(rung, places.get(trial_id)) for rung, places in sorted(self._places.items())]
        return [(rung, one) for rung, one in found if one is not None and rung not in self._doubtful]

    def rank(self, there: Sequence[Place], trial_id: str) -> int:
        """Return a trial's rank among places, 1 the best; equals share it."""
        own = next(self._score(one.value) for one in there if one.trial_id == trial_id)
        return 1 + sum(self._score(one.value) > own for one in there)

    def _score(self, value: float | None) -> float:
        return float("-inf") if value is None or value != value else real(value) * self._sign
