"""Verifies an experiment: its journal is replayed, and each decision and suggestion is made again."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.core import messages as m
from overtone.core.limits import Limits
from overtone.core.protocols import Searcher
from overtone.errors import OvertoneError, StorageError
from overtone.experiment import Experiment
from overtone.journal.codec import Codec
from overtone.journal.lines import header as header_in
from overtone.journal.newest_parts import newest_parts
from overtone.journal.reader import as_record, read
from overtone.reading.imported import origin_of
from overtone.reading.location import located
from overtone.run.algorithms import learns
from overtone.run.assemble import controller_for
from overtone.run.header.journal_setup import codec_for
from overtone.run.plan import plan
from overtone.run.resume.recorded_experiment import recorded_fields
from overtone.run.resume.replay import Divergence, Entry, replay_into
from overtone.run.resume.same_experiment import SpaceSources
from overtone.run.searcher_host import tell
from overtone.run.storage.initial_checkpoint import initial_in
from overtone.run.warm_start import warm
from overtone.store.local import LocalStore

_NEEDED = ("scheduler", "searcher", "space", "stop", "metric", "mode", "constraints", "num_samples", "seed")
"""The fields of an experiment that decisions depend on; the journal has the effects of the others."""

_NAMES = {"searcher": "search_alg", "space": "param_space"}


@dataclass(frozen=True, slots=True)
class OtherSuggestion:
    """A suggestion that the searcher would not make today.

    Attributes:
        record: The number of the journal's record.
        index: The number of the suggestion.
        now: The config of today's code; None if it has none.
        then: The recorded config.
    """

    record: int
    index: int
    now: Mapping[str, Any] | None
    then: Mapping[str, Any] | None

    def __str__(self) -> str:
        return f"record {self.record}: suggestion {self.index} was {self.then}; now it would be {self.now}"


@dataclass(slots=True)
class Verification:
    """The result of a verification.

    Attributes:
        n_records: Number of records of the journal.
        n_decisions: Number of decisions of the scheduler and the stoppers that were made again.
        decisions: The decisions that differ.
        n_suggestions: Number of suggestions that were made again.
        suggestions: The suggestions that differ.
        notes: What could not be verified, and why.
    """

    n_records: int = 0
    n_decisions: int = 0
    decisions: list[Divergence] = field(default_factory=list)
    n_suggestions: int = 0
    suggestions: list[OtherSuggestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return not self.decisions and not self.suggestions


def verify(
    path: str | os.PathLike[str],
    *,
    trainable: Any = None,
    scheduler: Any = None,
    search_alg: Any = None,
    param_space: Any = None,
    stop: Any = None,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Replay the journal of an experiment, and count the decisions and suggestions that differ today.

    Nothing is trained and nothing is written. Only Overtone's own schedulers, searchers and stoppers are made
    from the journal; others must be given. A space with functions needs the trainable or the space.

    Args:
        path: The folder of an experiment, its journal or its URL.
        trainable: Its module is searched for functions that the recorded space names.
        scheduler, search_alg, param_space, stop: Replace what is recorded.
        progress: Called now and then with the number of records so far.

    Raises:
        OvertoneError: The scheduler or the stop criterion is not plain data, and was not given.
        StorageError: The journal cannot be read, or its records do not follow from each other.
    """
    journal = located(path)
    header = header_in(journal)
    asked = {"scheduler": scheduler, "searcher": search_alg, "space": param_space, "stop": stop}
    given = {name: value for name, value in asked.items() if value is not None}
    found = Verification()
    made, searches = _fields(journal, header, trainable if trainable is not None else _unknown, given, found)
    plans = plan(Experiment(_unknown, **made, engine="inline", verbose=0))
    if not searches and isinstance(plans.scheduler, Searcher):
        kind, why = type(plans.scheduler).__name__, found.notes[-1].partition(": ")[2]
        raise OvertoneError(
            f"{journal.parent} cannot be verified from its journal alone: {kind} also makes the suggestions, "
            f"and {why}"
        )
    recorded = header.get("parts", {})
    searcher = plans.searcher
    searcher.goal = plans.goal
    searcher.on_start(plans.space, header["seed"])
    warm((), searcher, plans.space, plans.goal, header.get("earlier", ()), learns)
    limits = Limits() if recorded.get("limits") is None else Limits.of(recorded["limits"])
    is_inline = recorded.get("engine") == "Inline"  # The only engine with a limit of its own.
    most_concurrent = plans.engine.capabilities.max_concurrent if is_inline else None
    controller = controller_for(plans, header["seed"], limits, most_concurrent)
    if recorded.get("options", {}).get("restore") is not None:
        initial = initial_in(LocalStore(journal.parent), str(journal.parent))
        if initial is not None:
            controller.begin_from(initial)
    if not plans.scheduler.replayable:
        found.notes.append(f"{type(plans.scheduler).__name__} depends on more than the journal: not replayed")
    again = _Again(searcher if searches else None, found, progress)
    # without the space, the place of a value that is not data stands for the value
    codec = codec_for(plans.space) if searches else Codec()
    entries = again.watched(read(journal, codec=codec).entries())
    try:
        found.decisions = replay_into(controller, entries, again.on_command, codec=codec)
    except OvertoneError:
        raise
    except Exception as error:  # The controller trusts a journal; this file may be no whole one.
        raise StorageError(
            f"{journal}: record {again.n} does not follow from the records before it "
            f"({type(error).__name__}: {error}), so that nothing can be verified"
        ) from error
    return found


def _unknown(config: dict[str, Any]) -> None:
    """Stand for the trainable, which a replay does not run."""


def _fields(
    journal: Path, header: Mapping[str, Any], trainable: Any, given: Mapping[str, Any], found: Verification
) -> tuple[dict[str, Any], bool]:
    """Return the fields of the experiment that decisions depend on, and whether suggestions can be made.

    Raises:
        OvertoneError: One of them cannot be made from the journal.
    """
    parts = newest_parts(journal, header)
    made, not_data = recorded_fields(header, parts, SpaceSources(trainable), given)
    origin = origin_of(header)
    if origin:  # Also after a resume, whose searcher did not make the suggestions before it.
        found.notes.append(f"suggestions were not made again: those up to its import came from {origin}")
        not_data["searcher"] = ValueError(origin)
    for name, error in not_data.items():
        if name in ("searcher", "space") and not origin:
            what = _NAMES[name]
            found.notes.append(
                f"suggestions were not made again: {what} is not plain data ({error}); "
                f"tune.verify(path, {what}=...) takes it"
            )
        elif name in _NEEDED and name not in ("searcher", "space"):
            raise OvertoneError(
                f"{journal.parent} cannot be verified from its journal alone: {name} is not plain data "
                f"({error}). Give it: tune.verify(path, {name}=...)"
            )
    fields = {**{name: value for name, value in made.items() if name in _NEEDED}, **given}
    searches = {"searcher", "space"}.isdisjoint(not_data)
    if not searches:
        fields = {name: value for name, value in fields.items() if name not in ("searcher", "space")}
    return fields, searches


class _Again:
    """Asks the searcher again during a replay, and compares its suggestions with the recorded ones.

    Args:
        searcher: Begun; None to compare no suggestions.
        found: Gets the counts and the differences.

    Attributes:
        n: The number of the last record.
    """

    EVERY = 1000

    def __init__(
        self, searcher: Searcher | None, found: Verification, progress: Callable[[int], None] | None
    ) -> None:
        self.n = 0
        self._searcher = searcher
        self._questions: deque[m.Suggest | m.Observe] = deque()
        self._found = found
        self._progress = progress

    def watched(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries; count them, and compare the suggestions in them."""
        found = self._found
        for entry in entries:
            found.n_records += 1
            if self._progress is not None and not found.n_records % self.EVERY:
                self._progress(found.n_records)
            self.n = entry[0] if type(entry) is tuple else entry.n  # type: ignore[union-attr]
            if type(entry) is tuple:
                found.n_decisions += 1
            else:
                self._count(as_record(entry))
            yield entry

    def _count(self, record: m.Record) -> None:
        event = record.event
        redone = any(type(one) is m.Ruled and one.what == "redone" for one in record.choices)
        if type(event) is m.Reported and not redone:
            self._found.n_decisions += 1
        else:
            made = (m.Ruled, m.Added) if type(event) is not m.Suggested else (m.Ruled,)
            ruled = [one for one in record.choices if type(one) in made]
            self._found.n_decisions += sum(getattr(one, "what", "") != "redone" for one in ruled)
        if type(event) is m.Suggested:
            self._compare(record.n, event)
        elif type(event) is m.Resumed and self._searcher is not None and self._searcher.replay != "asked":
            # The new driver asks again, later, for what had no answer.
            self._questions = deque(one for one in self._questions if isinstance(one, m.Observe))
            self._tell()

    def _compare(self, n: int, event: m.Suggested) -> None:
        if self._searcher is None:
            return
        if self._questions and self._questions[0].index == event.index:  # type: ignore[union-attr]
            self._questions.popleft()
            found, now = self._found, self._searcher.suggest(event.index)
            found.n_suggestions += 1
            if _text(now) != _text(event.config):
                found.suggestions.append(OtherSuggestion(n, event.index, now, event.config))
        if event.config is not None:
            self._searcher.on_suggested(event.index, event.config)
        self._tell()

    def on_command(self, command: m.Command) -> None:
        """Take a question for the searcher."""
        if self._searcher is None or not isinstance(command, (m.Suggest, m.Observe)):
            return
        if isinstance(command, m.Observe) or command not in self._questions:
            self._questions.append(command)
            self._tell()

    def _tell(self) -> None:
        """Tell the searcher of what comes before the next suggestion.

        It is asked when the journal has its answer: a suggestion that was never recorded has no effect.
        """
        while self._questions and isinstance(self._questions[0], m.Observe):
            tell(self._searcher, self._questions.popleft())  # type: ignore[arg-type]


def _text(config: Any) -> str:
    return json.dumps(config, sort_keys=True, default=repr)
