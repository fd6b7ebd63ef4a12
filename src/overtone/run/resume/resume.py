"""A resume, from top to bottom: an experiment continues where its last driver ended.

1. `target.find` names the folder, and `acquire` takes it: nobody else writes there, and its journal has
   a first line, so that `ResultsPlace.goes_on`.
2. `recorded_in` reads the journal's header. What was drawn or read for the experiment stays: its seed,
   the results of its warm start, its limits until the end of the replay.
3. The searcher, the scheduler and the controller begin anew (`assemble`). `reopened` opens the journal.
   A failure up to here leaves the experiment as it was.
4. The engine opens with the time that the journal has reached, and `resume` restores the rest:
   the changed settings are printed; the replay tells all parts what happened (or a snapshot and the
   replay of later records do); the new driver is noted in the journal; checkpoints that no record
   names are taken in; unanswered requests are sent again.
5. `Resumed` is the first new event: trials that had a process are started from their checkpoints. The
   loop runs as in a new experiment, once files of trials are as long as the journal says
   (`observers_for`).

A simulated engine repeats its events during the replay, and continues as if it had never ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overtone.core.limits import Limits
from overtone.core.messages import CapacityChanged, Discard, Event, Resumed, Suggest
from overtone.core.protocols import Observer
from overtone.core.trial import Status, Trial
from overtone.run.header.journal_setup import codec_for
from overtone.run.parts import Parts, Past
from overtone.run.pending_commands import Outstanding
from overtone.run.resume.replay import Divergence, Resuming
from overtone.run.resume.snapshot import Snapshots
from overtone.run.resume.target import header_of, is_finished
from overtone.run.searcher_host import Answers, answer
from overtone.run.storage.deletions import Deletions
from overtone.run.storage.leftover_checkpoints import LateSaves, take_in
from overtone.store.folder_mark import JOURNAL

if TYPE_CHECKING:
    from overtone.journal.writer import JournalWriter
    from overtone.run.plan import Plan
    from overtone.run.storage.results_place import ResultsPlace


class Recorded(NamedTuple):
    """The facts in a journal's header that a resume keeps; None for facts that are not recorded.

    Attributes:
        earlier: Results of the warm start, as data.
        limits: The limits of the experiment at its start.
        begins_from: Its option `restore`.
    """

    header: Mapping[str, Any]
    seed: int | None
    earlier: Sequence[Mapping[str, Any]] | None
    limits: Limits | None
    begins_from: str | None = None


def recorded_in(place: ResultsPlace) -> Recorded:
    """Return the recorded facts of the experiment in a folder; for a new experiment, there are none.

    Raises:
        StorageError: The header cannot be read.
    """
    if not place.goes_on:
        return Recorded({}, None, None, None)
    header = header_of(place.folder)
    parts = header.get("parts", {})
    limits = None if parts.get("limits") is None else Limits.of(parts["limits"])
    begins_from = parts.get("options", {}).get("restore")
    return Recorded(header, header.get("seed"), header.get("earlier", ()), limits, begins_from)


def reopened(place: ResultsPlace, plan: Plan) -> JournalWriter:
    """Return the journal of the experiment in a folder, to be continued behind its last whole line."""
    from overtone.journal.writer import JournalWriter

    path, codec = place.folder / JOURNAL, codec_for(plan.space)
    return JournalWriter.reopen(path, plan.experiment.durability, codec, place.lock)


def resume(
    parts: Parts,
    past: Past,
    observers: Sequence[Observer],
    outstanding: Outstanding,
    snapshots: Snapshots,
    deletions: Deletions,
    late: LateSaves,
    first: Sequence[Event],
    code: Mapping[str, Any],
) -> tuple[list[Event], Answers]:
    """Restore all parts to the last driver's state; return the next events, and known suggestions.

    Args:
        observers: Receive the past records.
        outstanding: Empty; gets the requests that no record answers.
        deletions: Gets the deletions that were requested and not confirmed.
        late: Gets the checkpoints of attempts that are in no record.
        first: The first events of the engine.
        code: Where the code of the trainable comes from; the new driver notes it.

    Raises:
        StorageError: The journal cannot be read, or a store stays away.
        OvertoneError: A simulated engine repeats other events than the recorded ones.
    """
    from overtone.journal.header import driver_facts
    from overtone.run.resume.header_changes import is_other_code, resume_changes

    engine, controller, errored = parts.plan.engine, parts.controller, parts.plan.asked.errored
    repeats = engine.capabilities.repeats
    lines, noted = resume_changes(past.header, parts)
    is_old = is_finished(parts.folder) and is_other_code(past.header, parts)
    for line in lines:
        parts.tell(line)
    replay = Resuming(past.journal, controller, parts.plan.searcher, observers, outstanding)
    if repeats:
        first = replay.replay_in(engine, first)
    elif divergences := replay.replay(snapshots.recall()):
        parts.tell(_about_divergences(divergences))
    past.journal.note("driver", {**driver_facts(), "code": dict(code), **noted})
    parts.tell(_about_state(parts))
    if is_old and not errored and parts.limits == controller.limits:
        parts.tell(_about_old_results(parts))
    answers = replay.answers
    if not repeats:
        deletions.hold([Discard(uri) for uri in outstanding.discards])
        late.events = take_in(parts, outstanding, late)
    elif (
        controller.is_running
        and not (errored or controller.has_deferred)
        and parts.limits == controller.bounds.given
    ):
        asked = [
            answer(parts.plan.searcher, Suggest(i), engine.now, answers) for i in sorted(outstanding.asked)
        ]
        return [*first, *filter(None, asked)], answers
    else:
        first = [*first, CapacityChanged(engine.now(), outstanding.nodes)]
    return [Resumed(engine.now(), parts.limits, errored), *first], answers


def _about_state(parts: Parts) -> str:
    """Return a line about the recovered state."""
    engine = parts.plan.engine.capabilities
    trials = parts.controller.trials.values()
    n_results, n_ended = sum(one.n_results for one in trials), sum(one.status.is_final for one in trials)
    both = f"{len(trials)} trial{'s' * (len(trials) != 1)} with {n_results:,} result{'s' * (n_results != 1)}"
    told = [both, f"{n_ended} of them had ended"]
    n_failed = sum(one.status is Status.ERROR for one in trials) if parts.plan.asked.errored else 0
    if n_failed:
        told[-1] += f", {n_failed} in an error: {'it is' if n_failed == 1 else 'these are'} tried again"
    if held := parts.controller.held:
        told.append(f"{len(held)} {'stays' if len(held) == 1 else 'stay'} held until resumed")
    again = [one for one in trials if _was_cut_off(one) and one.id not in held]
    if again and not engine.pauses:
        told.append(f"{len(again)} {'is' if len(again) == 1 else 'are'} open and asked first")
    elif again and not engine.repeats:
        n_saved = sum(one.checkpoint is not None for one in again)
        redone = sum(one.ruled_t - (one.checkpoint.t if one.checkpoint else 0) for one in again)
        seconds = sum(map(_seconds_again, again))
        starts = (n_saved, "from their checkpoints"), (len(again) - n_saved, "from their beginning")
        told.append(" and ".join(f"{n} go on {where}" for n, where in starts if n))
        if redone:
            told.append(f"{redone:,} iterations (about {seconds:.0f} s of training) are done again")
    return f"resuming {parts.folder}: " + "; ".join(told)


def _about_old_results(parts: Parts) -> str:
    """Return a line about a finished experiment whose trainable's code is another one now."""
    name, n = parts.folder.name, len(parts.controller.trials)
    return (
        f"{name} is finished: its results are returned, and the changed {parts.plan.name} does not run. "
        "To run it in a new experiment, leave resume out (the earlier one is moved aside) or choose another "
        f"name; to run it in more trials of this one, set num_samples above {n}"
    )


def _about_divergences(found: Sequence[Divergence]) -> str:
    """Return a line about decisions that today's code would make otherwise."""
    more = f" ({len(found)} differences in all)" if len(found) > 1 else ""
    return f"decisions are kept as they were, where today's code would decide otherwise: {found[0]}{more}"


def _was_cut_off(trial: Trial) -> bool:
    """Return whether a trial had a process when its driver ended or was interrupted."""
    if trial.status is Status.PAUSED:
        return trial.why is not None and trial.why.rule == "interrupted"
    return trial.status.is_placed or trial.status is Status.PARKED


def _seconds_again(trial: Trial) -> float:
    """Return the seconds of a trial's redone part, by its mean time per iteration."""
    total = trial.last.metrics.get("time_total_s", 0.0) if trial.last is not None else 0.0
    saved_t = trial.checkpoint.t if trial.checkpoint is not None else 0
    if not isinstance(total, (int, float)) or trial.ruled_t <= 0:
        return 0.0
    return float(total) * (trial.ruled_t - saved_t) / trial.ruled_t
