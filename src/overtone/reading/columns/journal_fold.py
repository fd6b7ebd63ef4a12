"""A journal as columns, folded record by record: each reading goes on where the last one ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from overtone.core.goal import Goal
from overtone.core.messages import Added, Discarded, Moved, Record, Reported, Ruled, Started
from overtone.core.table import is_redone
from overtone.core.trial import Status
from overtone.core.types import cause_of_end
from overtone.errors import GoalError, StorageError
from overtone.journal.codec import Codec
from overtone.journal.formats import FORMAT
from overtone.journal.garbage import not_collecting
from overtone.journal.plain_reports import time_of
from overtone.journal.seals import SEAL_BYTES
from overtone.journal.text import loads
from overtone.reading.columns import mentions
from overtone.reading.columns.exploits import exploits
from overtone.reading.columns.mentions import CONFIG, DECISION, LEAP, RESULT, START
from overtone.reading.columns.metric_fold import MetricFold, decoded
from overtone.reading.columns.parameter_fold import Levels, ParameterFold
from overtone.reading.columns.row_arrays import RowArrays
from overtone.reading.columns.run_facts import RunFacts
from overtone.reading.columns.trial_columns import FAILED, Column, Curve, Exploit, TrialColumns
from overtone.reading.columns.written_domains import log_parameters
from overtone.reading.decisions import is_decision
from overtone.reading.drawn_brackets import BracketOf, drawn_brackets, unknown_bracket
from overtone.reading.journal_reader import JournalReader, Reports, iteration_of
from overtone.reading.recorded_goal import inferred_goal, recorded_objectives
from overtone.space.nesting import with_tuples

FACTS: Mapping[str, tuple[Any, Any]] = {
    "status": (np.int32, 0), "end": (np.int32, -1), "started": (np.float64, nan), "ended": (np.float64, nan),
    "node": (np.int32, -1), "rung": (np.float64, nan), "bracket": (np.int32, 0), "source": (np.int32, -1),
    "n_results": (np.int32, 0), "allowed": (np.bool_, True),
}  # fmt: skip
"""The arrays of each trial: type, and value before anything is known."""

STATUSES = tuple(status.value for status in Status)
_CODES = {status: code for code, status in enumerate(STATUSES)}
_FINAL = frozenset(status.value for status in Status if status.is_final)
_ERROR = Status.ERROR.value

Progress = Callable[[int], None]
"""Is told how many bytes of the journal were read."""


class JournalFold:
    """The columns of a journal up to where it was read.

    Args:
        journal: The file.

    Attributes:
        journal: The file.
        offset: The end of what was read, in bytes.
        n: The number of the last record before `offset`.
        seed: The seed by the header.
        parts: The settings by the header, or by the newest driver that noted them.
        goal: The goal by `parts`, or inferred from the first result.
        time: The time of the last record, in seconds that the experiment has run.
        rungs: The rungs at which rulings were made.
        has_results: Whether a result was read.
        run: Facts about the run as a whole.
        sources: The rows that trials will be restarted from, by row, until the restart takes effect.
    """

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self.offset = self.n = 0
        self.ids: list[str] = []
        self.arrays = RowArrays()
        for name, (dtype, fill) in FACTS.items():
            self.arrays.add((name, ""), dtype, fill)
        self.parameters = ParameterFold(self.arrays)
        self.metrics = MetricFold(self.arrays)
        self.nodes = Levels()
        self.ends = Levels()
        self.mentions = mentions.Mentions()
        self.seed: int | None = None
        self.parts: Mapping[str, Any] = {}
        self.goal = Goal()
        self.time = 0.0
        self.rungs: set[float] = set()
        self.has_results = False
        self.run = RunFacts()
        self.sources: dict[int, int] = {}
        self._shown_ids: tuple[str, ...] = ()
        self._rows: dict[str, int] = {}
        self._is_newest_format = True
        self._is_kept = False
        self._bracket_of: BracketOf = unknown_bracket
        self._codec = Codec(decode_config=with_tuples)

    def begin(self, offset: int, n: int, ids: list[str]) -> None:
        """Go on at a place of the journal, with these trials."""
        self.offset, self.n, self.ids = offset, n, ids
        self._rows = {trial_id: row for row, trial_id in enumerate(ids)}

    def read(self, progress: Progress = lambda offset: None) -> None:
        """Take note of what was recorded since. After an exception, the fold is not to be used.

        Raises:
            StorageError: The journal cannot be read, or is damaged.
        """
        if self._is_kept:
            self.arrays.renew()
            self._is_kept = False
        reader, decode = JournalReader(self.journal, self.offset, self.n), self._codec.decode
        part: Reports | bytes = b""
        try:
            with not_collecting():
                for part in reader.parts():
                    if isinstance(part, Reports):
                        self._on_reports(part, reader.offset)
                    elif (record := decode(part, True, True)) is not None:
                        self._on_record(record, reader.offset)
                    else:
                        self._on_fact(loads(part.decode() + "}"))
                    progress(reader.offset)
                self.parameters.flush()
                self.metrics.flush()
        except KeyError as error:
            raise StorageError(
                f"{self.journal}, after line {reader.n}: a record is about {error}, "
                f"which no line before mentions"
            ) from error
        self.offset, self.n = reader.offset, reader.n

    @property
    def is_continuable(self) -> bool:
        """Whether another fold can go on here: records of format 1 are read with those before them."""
        return self._is_newest_format

    def row(self, trial_id: str) -> int:
        """Return the row of a trial; -1 if there is none."""
        return self._rows.get(trial_id, -1)

    def keep(self) -> None:
        """Let the arrays of the columns stay as they are: the next `read` works on copies."""
        self._is_kept = True

    def columns(self) -> TrialColumns:
        """Return the columns; their arrays are views, which the next `read` changes, except after `keep`."""
        facts = {name: self.arrays.view((name, "")) for name in FACTS}
        if len(self._shown_ids) < len(self.ids):
            self._shown_ids = tuple(self.ids)
        node, end = facts.pop("node"), facts.pop("end")
        return TrialColumns(
            ids=self._shown_ids,
            params=self.parameters.columns(),
            metrics=self.metrics.columns(),
            status=Column(facts.pop("status"), np.broadcast_to(np.False_, self.arrays.n), STATUSES),
            end=Column(end, end < 0, tuple(self.ends.values)),
            node=Column(node, node < 0, tuple(self.nodes.values)),
            goals=tuple(zip(self.goal.metrics, self.goal.modes, strict=True)),
            log_params=log_parameters(self.parts.get("space")),
            name=self.journal.parent.name,
            n_records=self.n,
            curve=partial(_curve, self),
            exploits=partial(_exploits, self),
            **facts,
        )

    # --- results -----------------------------------------------------------------------

    def _on_reports(self, reports: Reports, offset: int) -> None:
        """Take note of reports without choices."""
        rows, counts = self._rows, self.arrays["n_results", ""]
        put, mention = self.metrics.put, self.mentions.add
        for trial, body, head in zip(*reports, strict=True):
            row, end = rows[trial.decode()], head.end()
            t = iteration_of(body, end)
            put(row, t, body[end:])
            counts[row] = number = counts[row] + 1
            mention(row, offset, RESULT if t == number else RESULT | LEAP)
            offset += len(body) + SEAL_BYTES
        self.time = max(self.time, time_of(body))
        self._after_results(reports.bodies[0][reports.heads[0].end() :])
        if self.goal.constraints:
            newest = zip(reports.trials, reports.bodies, reports.heads, strict=True)
            for trial, text in {trial: body[head.end() :] for trial, body, head in newest}.items():
                self._check(rows[trial.decode()], text)

    def _on_report(self, event: Reported) -> int:
        """Take note of another report; return its kind."""
        row, text = self._rows[event.trial_id], event.raw.encode("utf-8", "backslashreplace")
        self.metrics.put(row, event.t, text)
        counts = self.arrays["n_results", ""]
        counts[row] += 1
        self._after_results(text)
        if self.goal.constraints:
            self._check(row, text)
        return RESULT if event.t == counts[row] else RESULT | LEAP

    def _after_results(self, first: bytes) -> None:
        """Take the goal from the first result if nobody named it, as the run does."""
        if self.has_results:
            return
        self.has_results = True
        if not self.goal.metrics:
            metric, mode = inferred_goal(decoded([first])[0])
            if metric is not None:
                self.aim(Goal(metric, mode, constraints=_constraints(self.goal)))

    def _check(self, row: int, text: bytes) -> None:
        self.arrays["allowed", ""][row] = self.goal.allows(decoded([text])[0])

    def set_up(self, parts: Mapping[str, Any]) -> None:
        """Take the settings."""
        self.parts = parts
        self._bracket_of = drawn_brackets({"seed": self.seed, "parts": parts})

    def aim(self, goal: Goal) -> None:
        """Take the goal."""
        self.goal = goal
        self.metrics.aim((*goal.metrics, *goal.constraints))

    # --- other records -----------------------------------------------------------------

    def _on_fact(self, facts: Mapping[str, Any]) -> None:
        """Take the settings of a driver."""
        self.run.on_fact(facts, self.time)
        if facts["n"] == 1:
            self._is_newest_format = facts.get("format") == FORMAT
            self.seed = facts.get("seed")
        parts = facts.get("parts")
        if isinstance(parts, dict):
            self.set_up({**self.parts, **parts})
            with suppress(GoalError, TypeError, ValueError):
                goal = recorded_objectives({"parts": self.parts})
                if goal.metrics or not self.goal.metrics:
                    self.aim(goal)

    def _on_record(self, record: Record, offset: int) -> None:
        event, rows = record.event, self._rows
        self.time = event.time
        self.run.on_record(record)
        decision = DECISION if is_decision(record) else 0
        named, kind = getattr(event, "trial_id", ""), 0
        if isinstance(event, Started):
            self._on_start(rows[event.trial_id], event)
            kind = START
        elif isinstance(event, Reported) and not is_redone(record):
            kind = self._on_report(event)
        elif isinstance(event, Discarded):
            named = _owner(event.uri)
        kinds = {rows.get(named): kind}
        for choice in record.choices:
            if isinstance(choice, Moved):
                self._on_move(rows[choice.trial_id], choice, event.time)
            elif isinstance(choice, Added):
                self._on_added(choice)
            elif isinstance(choice, Ruled):
                self._on_ruling(rows[choice.trial_id], choice)
            kinds.setdefault(rows.get(getattr(choice, "source", "")), 0)
            row = rows.get(getattr(choice, "trial_id", ""))
            has_config = getattr(choice, "config", None) is not None
            kinds[row] = kinds.get(row, 0) | (CONFIG if has_config else 0)
        trials = [(row, kind) for row, kind in kinds.items() if row is not None]
        for number, kind in trials or [(mentions.ALL, 0)]:
            self.mentions.add(number, offset, kind | decision)

    def _on_added(self, added: Added) -> None:
        row = self._rows.setdefault(added.trial_id, len(self.ids))
        if row == len(self.ids):
            self.ids.append(added.trial_id)
            self.arrays.extend(row + 1)
        self.parameters.put(row, added.config)
        self.arrays["source", ""][row] = self._rows.get(added.source or "", -1)
        self.arrays["bracket", ""][row] = self._bracket_of(added.trial_id) or 0

    def _on_start(self, row: int, event: Started) -> None:
        started = self.arrays["started", ""]
        if started[row] != started[row]:
            started[row] = event.time
        self.arrays["node", ""][row] = self.nodes.codes([self.run.names.get(event.node, event.node)])[0]

    def _on_ruling(self, row: int, choice: Ruled) -> None:
        if choice.why is not None and choice.why.bracket is not None:
            self.arrays["bracket", ""][row] = choice.why.bracket
        if choice.why is not None and choice.why.rung is not None:
            rung = self.arrays["rung", ""]
            rung[row] = np.fmax(rung[row], choice.why.rung)
            self.rungs.add(float(choice.why.rung))
        if choice.what == "continue" and choice.config is not None:
            self.parameters.put(row, choice.config)
        elif choice.what == "restart" and choice.source is not None:
            self.sources[row] = self._rows.get(choice.source, -1)

    def _on_move(self, row: int, moved: Moved, time: float) -> None:
        self.arrays["status", ""][row] = _CODES[moved.status]
        is_final, end = moved.status in _FINAL, -1
        if is_final:
            end = self.ends.codes([FAILED if moved.status == _ERROR else cause_of_end(moved.why)])[0]
        self.arrays["ended", ""][row], self.arrays["end", ""][row] = time if is_final else nan, end
        if moved.config is not None:
            self.parameters.put(row, moved.config)
            source = self.sources.pop(row, None)
            if source is not None:
                self.arrays["source", ""][row] = source


def _owner(uri: str) -> str:
    """Return the folder that a checkpoint is in, which has the trial's id."""
    return uri.replace("\\", "/").rstrip("/").rpartition("/")[0].rpartition("/")[2]


def _constraints(goal: Goal) -> dict[str, float]:
    return dict(zip(goal.constraints, goal.bounds, strict=True))


def _curve(fold: JournalFold, row: int, metric: str) -> Curve:
    return mentions.curve(fold.journal, fold.mentions.of(row), fold.ids[row], metric)


def _exploits(fold: JournalFold, rows: Sequence[int]) -> list[Exploit]:
    mentions = fold.mentions.by_trial() if fold.is_continuable else None
    return exploits(fold.journal, fold.ids, mentions, rows)
