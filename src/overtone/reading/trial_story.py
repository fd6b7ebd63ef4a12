"""The history of one trial, step by step, from the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overtone.core import messages as m
from overtone.core.goal import is_number, lookup
from overtone.core.table import is_redone
from overtone.core.trial import OF_DEMANDS
from overtone.core.types import Why
from overtone.reading.drawn_brackets import drawn_brackets
from overtone.reading.journal_index import JournalIndex
from overtone.reading.request_text import asked, interruption, is_study, noted
from overtone.reading.rung_places import RankedPlaces
from overtone.reading.rung_standings import Standings


@dataclass(slots=True)
class StoryStep:
    """One step in a trial's history.

    Attributes:
        n: The number of its record in the journal.
        time: The experiment's running time at the step, in seconds.
        kind: "created", "started", "passed" a rung, "ruled", "saved", "ended", "waits", "asked",
            "cloned" by another, "resumed" or "interrupted" with the whole experiment.
        text: A sentence about the step.
        t: The training_iteration, if there is one.
        decision: The decision: "stop", "pause", "restart", "save", "continue".
        why: The reason, as recorded in the journal.
        value: The value of the metric at the step.
        cutoff: The cutoff, as a value of the metric.
        rank, of: The rank, and the number of compared trials.
        competitors: The compared trials, best first, with the trial itself; None if they are not known.
        source: The trial whose checkpoint the trial continued from.
    """

    n: int
    time: float
    kind: str
    text: str
    t: float | None = None
    decision: str | None = None
    why: Why | None = None
    value: float | None = None
    cutoff: float | None = None
    rank: int | None = None
    of: int | None = None
    competitors: RankedPlaces | None = None
    source: str | None = None


class Story:
    """The history of one trial, as its journal records it.

    Args:
        index: Of the experiment's journal, which it has read.
        trial_id: The trial.
        metric, mode: What is optimised, where it is known.
        clock: The scheduler's `time_attr`.
        standings: Those of another trial's story, which take a walk through the journal.

    Attributes:
        standings: Who stood where at each rung; None if there are no rungs.
        steps: Its steps, in order.
        is_ruled: Whether a scheduler or a stopper ever ruled on it.
        held_by: The sentence of the request that holds it now, such as "user1 from the dashboard asked it to
            pause"; "" if it is not held.
    """

    def __init__(
        self,
        index: JournalIndex,
        trial_id: str,
        metric: str | None,
        mode: str | None,
        clock: str,
        standings: Standings | None = None,
    ) -> None:
        self.steps: list[StoryStep] = []
        self.is_ruled = False
        self.held_by = ""
        self._id, self._header = trial_id, index.header
        self._metric, self._mode = metric, mode or "max"
        self._value: float | None = None
        self._t: int | None = None
        self._told: Why | None = None
        for record in index.records(trial_id):
            self._take(record)
        if index.rungs and metric is not None:
            standings = standings or Standings.of(
                index.journal, index.rungs, metric, self._mode, clock, drawn_brackets(index.header)
            )
            self._compare(standings)
        self.standings = standings

    # --- what each record tells ----------------------------------------------------------

    def _add(self, record: m.Record, kind: str, text: str, **more: Any) -> None:
        self.steps.append(StoryStep(record.n, record.event.time, kind, text, **more))

    def _take(self, record: m.Record) -> None:
        event = record.event
        is_own = getattr(event, "trial_id", None) == self._id
        match event:
            case m.Reported() if is_own:
                if not is_redone(record):
                    self._t = event.t
                    value = lookup(event.metrics, self._metric) if self._metric is not None else None
                    self._value = value if is_number(value) else self._value
            case m.Started() if is_own:
                where = f"process {event.pid} on {event.hostname or event.node}"
                state = f", from the checkpoint of iteration {event.restored.t}" if event.restored else ""
                whose = event.restored.trial_id if event.restored else self._id
                state += f" of {whose}" if whose != self._id else ""
                again = f" (attempt {event.attempt + 1})" if event.attempt else ""
                self._add(record, "started", f"started{again}: {where}{state}")
            case m.SaveFailed() if is_own:
                self._add(record, "saved", f"could not save: {event.error}", t=self._t)
            case m.Noticed() if is_own:
                when = f" in {event.grace_s:g} s" if event.grace_s < m.NEVER else ""
                moves = "; it is to save and move to another node" if event.moves else ""
                self._add(record, "asked", f"its machine said that it goes away{when}{moves}")
            case m.Requested() if event.trial_id == self._id:
                self._add(record, "asked", asked(event), t=self._t)
            case m.Resumed():
                self._add(record, "resumed", "the experiment was resumed by a new driver")
            case m.Interrupted():
                self._add(record, "interrupted", interruption(self._header))
            case _:
                pass
        for choice in record.choices:
            self._choose(record, choice, is_own)

    def _choose(self, record: m.Record, choice: m.Choice, is_own: bool) -> None:
        if isinstance(choice, m.Added):
            if choice.trial_id == self._id:
                origin = f" from the state of {choice.source}" if choice.source else ""
                origin += _reason(choice.why) if choice.why is not None and choice.why.rule == "add" else ""
                self._add(record, "created", f"created{origin}", why=choice.why, source=choice.source)
            elif choice.source == self._id:
                self._add(record, "cloned", f"{choice.trial_id} was created from its state", t=self._t)
        elif isinstance(choice, m.Ruled):
            if choice.trial_id == self._id and choice.what != "redone":
                self._ruled(record, choice)
            elif choice.source == self._id and choice.trial_id != self._id:
                self._add(record, "cloned", f"{choice.trial_id} went on from its state", t=self._t)
        elif isinstance(choice, m.Moved) and choice.trial_id == self._id:
            self._moved(record, choice, is_own)
        elif isinstance(choice, m.Steered) and choice.trial_id == self._id and choice.is_held is not None:
            event = record.event
            self.held_by = asked(event) if choice.is_held and isinstance(event, m.Requested) else ""
            if isinstance(event, m.SaveFailed):
                text = "goes on instead of pausing: its waiting process would keep its GPU"
                self._add(record, "waits", text, t=self._t)

    def _ruled(self, record: m.Record, ruled: m.Ruled) -> None:
        self.is_ruled = True
        why = ruled.why
        self._told = why
        cutoff = why.cutoff if why is not None else None
        self._add(
            record,
            "ruled",
            "",
            t=ruled.t,
            decision=ruled.what,
            why=why,
            value=self._value,
            cutoff=None if cutoff is None else cutoff * (-1.0 if self._mode == "min" else 1.0),
            rank=why.rank if why is not None else None,
            of=why.of if why is not None else None,
            source=ruled.source,
        )

    def _moved(self, record: m.Record, moved: m.Moved, is_own: bool) -> None:
        event, why = record.event, moved.why
        cause = event.cause if isinstance(event, m.Ended) and is_own else None
        new = why if why is not None and why != self._told else None
        reason = _reason(new)
        if moved.status in ("TERMINATED", "ERROR"):
            how = "failed" if moved.status == "ERROR" else "ended"
            wrong = noted(moved.error or (event.error if isinstance(event, m.Ended) and is_own else ""))
            text = f"{how}{wrong or reason}"
            if cause == "returned" and not wrong:
                told = is_study(self._header)
                text = "ended: its program told the end" if told else "ended by itself: its function returned"
            self.held_by = ""
            self._add(record, "ended", text, t=self._t, why=why)
        elif moved.status == "PAUSED" and why is not None and why.rule == "pause_trial":
            self._add(record, "waits", f"{why.note}; it waits to be resumed", t=self._t, why=why)
        elif moved.status == "PAUSED":
            self._add(record, "waits", f"paused{reason}; it waits to be chosen again", t=self._t, why=why)
        elif moved.status == "PARKED":
            self._add(record, "waits", "paused: it cannot save, so its process waits", t=self._t, why=why)
        elif moved.status == "PENDING" and isinstance(event, m.Ended) and is_own and not _is_resized(moved):
            what = {"lost": "was lost", "halted": "halted", "killed": "was killed"}.get(event.cause, "failed")
            text = f"{what}{noted(event.error)}; it waits to be started again"
            if why is not None and why.rule == "out_of_memory":
                text = f"{why.note}; it waits to go on from its last checkpoint"
            self._add(record, "waits", text, t=self._t, why=why)
        elif moved.status == "PENDING":
            self._add(record, "waits", f"waits to be started{reason}", t=self._t, why=why)

    # --- who it was compared with --------------------------------------------------------

    def _compare(self, standings: Standings) -> None:
        ruled = {step.why.rung for step in self.steps if step.why is not None and step.kind == "ruled"}
        for step in self.steps:
            if step.kind == "ruled" and step.why is not None and step.why.rung is not None:
                step.competitors = standings.at(step.why.rung, step.n, step.why.bracket)
        bracket = standings.bracket(self._id)
        for rung, place in standings.passed(self._id):
            if rung in ruled:
                continue
            there = standings.at(rung, place.n, bracket)
            assert there is not None  # `passed` names rungs that are not in doubt
            self.steps.append(
                StoryStep(
                    place.n, place.time, "passed", "", place.t, value=place.value, competitors=there,
                    why=Why("", rung=rung, bracket=bracket), rank=there.rank(self._id),
                    of=len(there),
                )
            )  # fmt: skip
        self.steps.sort(key=lambda step: step.n)


def _is_resized(moved: m.Moved) -> bool:
    """Return whether a waiting trial only got another demand."""
    return moved.why is not None and moved.why.rule in OF_DEMANDS


def _reason(why: Why | None) -> str:
    """Return text such as `: the time budget of 60 s is spent`; "" if only the end is known."""
    if why is None or why.rule in ("halted", "returned"):
        return ""
    return f": {why.note or why.rule.replace('_', ' ')}"
