"""Treatment of checkpoints that no record names: intact newer ones are kept, others deleted.

A driver that was killed, or whose machine was lost, may have missed the word of a checkpoint
that a trial had put already. The events are made up for: the results that came with it, and
the checkpoint, as the trial would have sent them. They are facts of the journal from then on,
and a replay knows no difference. Where the start of the attempt was missed, too, they follow
the next start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Protocol

from overtone.core.messages import Ended, Event, Reported, Saved, Start
from overtone.core.store import key_of
from overtone.core.trial import Status, Trial
from overtone.core.types import Checkpoint, Metrics
from overtone.quantity_text import size_text
from overtone.run.pending_commands import Outstanding
from overtone.run.storage.results_place import patiently
from overtone.standard_streams import say
from overtone.worker.checkpoints.saving import config_digest
from overtone.worker.protocol import decode

if TYPE_CHECKING:
    from overtone.run.parts import Parts
    from overtone.run.storage.results_place import ResultsPlace
    from overtone.store.leftovers import Leftover

SETTLED_S = 60.0
"""Seconds without a change after which an unfinished save has no process on another machine."""


MOST_TOLD = 20
"""Most checkpoints that a message lists by name."""


class Finder(Protocol):
    """Finds and removes leftovers; see `store.leftovers`."""

    def find(self, named: frozenset[str] | None, trials: Iterable[str] | None = None) -> list[Leftover]: ...

    def remove(self, leftover: Leftover) -> None: ...


class LateSaves:
    """Checkpoints of attempts whose start is in no record, until their trials start again.

    Attributes:
        events: Events of attempts whose start is recorded.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._by_trial: dict[str, list[tuple[Finder, Leftover]]] = {}

    def __len__(self) -> int:
        return len(self._by_trial)

    def add(self, finder: Finder, leftover: Leftover) -> None:
        """Take note of a checkpoint."""
        self._by_trial.setdefault(leftover.trial_id, []).append((finder, leftover))

    def all(self) -> list[Leftover]:
        """Return all that was not started again."""
        return [leftover for saved in self._by_trial.values() for _, leftover in saved]

    def begun(self, start: Start, time: float) -> tuple[Start | None, list[Event]]:
        """Return the Start from the trial's own late checkpoint, and the events that came with it.

        The Start is None if the trial was done: it is not started again.
        """
        saved = self._by_trial.pop(start.trial_id, [])
        digest, known = config_digest(start.config), start.checkpoint
        if known is not None and known.trial_id != start.trial_id:
            return start, []  # It restores another trial's checkpoint.
        usable = [
            one
            for _, one in sorted(saved, key=lambda pair: _order(pair[1]))
            if _is_of(one, digest) and one.state["t"] > (known.t if known is not None else 0)
        ]
        if not usable:
            return start, []
        events = _told(usable, start.trial_id, start.attempt, known.t if known is not None else 0, time)
        if type(events[-1]) is Ended:
            return None, events
        return replace(start, checkpoint=_checkpoint(usable[-1]), fallbacks=()), events

    def remove(self, tell: Callable[[str], None]) -> None:
        """Delete the checkpoints of trials that did not start again, and tell how many."""
        for saved in self._by_trial.values():
            for finder, leftover in saved:
                _remove(finder, [leftover], tell)
        self._by_trial.clear()


def take_in(parts: Parts, outstanding: Outstanding, late: LateSaves) -> list[Event]:
    """Return the events of checkpoints that no record names; those of no use are deleted.

    Called after the replay and before any trial starts, by the one driver that may write.

    Args:
        outstanding: Knows the checkpoints that are still to be deleted.
        late: Gets the checkpoints of attempts that are in no record.

    Raises:
        StorageError: The store stays away.
    """
    controller, place = parts.controller, parts.place
    kept = controller.kept
    fence = patiently(lambda: _newest_fence(place))
    named = frozenset(filter(None, map(key_of, (*kept, *outstanding.discards))))
    by_trial: dict[str, list[Leftover]] = {}
    for finder in _finders(parts):
        found = patiently(lambda finder=finder: finder.find(named))  # type: ignore[misc]
        _tell_kept([one for one in found if not one.is_ours], parts.tell)
        found = [one for one in found if one.is_ours]
        wanted = [one for one in found if is_wanted(one, controller.trials, fence)]
        _remove(finder, [one for one in found if one not in wanted], parts.tell)
        for one in wanted:
            trial = controller.trials.get(one.trial_id)
            if trial is None or not _is_live(trial):
                late.add(finder, one)
            else:
                by_trial.setdefault(trial.id, []).append(one)
    found = [*(one for saved in by_trial.values() for one in saved), *late.all()]
    _set_book(parts, {**kept, **{one.uri: one.size_bytes for one in found}})
    if found and parts.past is not None:
        saves = f"{_counted(len(found), 'save')} of {_counted(len(by_trial) + len(late), 'trial')}"
        parts.tell(f"found {saves} that the journal did not name yet: nothing of these is done again")
    events: list[Event] = []
    for trial in [one for one in controller.trials.values() if _is_live(one)]:
        saved, now = sorted(by_trial.get(trial.id, []), key=_order), parts.plan.engine.now()
        told = _told(saved, trial.id, trial.attempt, trial.ruled_t, now)
        if not told and trial.last is not None and trial.last.metrics.get("done") is True:
            told = [_done(trial.id, trial.attempt, now)]
        events += told
    return events


def _set_book(parts: Parts, sizes: Mapping[str, int]) -> None:
    """Bring the book of sizes in line, if `max_disk` is set.

    Saves were deleted, or it is another machine, which has no book.
    """
    from overtone.store.budgeted import BOOK, write_book

    header = parts.past.header if parts.past is not None else {}
    if (parts.folder / BOOK).exists() or header.get("parts", {}).get("checkpoints", {}).get("max_disk"):
        write_book(parts.folder, sizes)


def clear_out(parts: Parts) -> None:
    """Delete all checkpoints in the place of an experiment that begins."""
    late = LateSaves()
    take_in(parts, Outstanding(), late)
    late.remove(parts.tell)


def clear_up(parts: Parts, late: LateSaves) -> None:
    """Delete the parts of saves and deletions that killed processes left; no trial runs any more."""
    if parts.controller.is_finished:
        late.remove(parts.tell)
    trials, is_resumed = parts.controller.trials.values(), parts.past is not None
    if parts.plan.engine.capabilities.repeats and not is_resumed:
        return
    tried_again = [one.id for one in trials if one.attempt > 1 or one.status is Status.ERROR]
    saved = [one.id for one in trials if one.checkpoint is not None]
    for finder, among in zip(_finders(parts), _amongs(parts.place, tried_again, saved), strict=True):
        if is_resumed or among:
            try:
                found = finder.find(None, None if is_resumed else among)
                _remove(finder, [one for one in found if one.is_ours], parts.tell)
            except Exception as error:
                say(f"what killed processes left cannot be found: {error}")


def is_wanted(leftover: Leftover, trials: Mapping[str, Trial], fence: int) -> bool:
    """Return whether its trial can go on from it: it is newer, of the same config, and of no earlier attempt.

    A trial that is in no record may be created again.

    Args:
        fence: The number of the lease under which the journal's newest records were written. What
            an earlier holder saved after that is not of the same history.
    """
    trial, state = trials.get(leftover.trial_id), leftover.state
    t, attempt = state.get("t"), state.get("attempt")
    if not leftover.is_whole or leftover.is_damaged or leftover.fence < fence:
        return False
    if type(t) is not int or type(attempt) is not int:
        return False
    if trial is None:
        return True
    if trial.status.is_final or attempt < trial.attempt:
        return False
    known_t = trial.checkpoint.t if trial.checkpoint is not None else 0
    return t > known_t and _is_of(leftover, config_digest(trial.config))


def _finders(parts: Parts) -> list[Finder]:
    # over several machines, the processes of most of which are not seen
    return list(parts.place.leftovers(SETTLED_S if parts.plan.engine.capabilities.spans_hosts else 0.0))


def _amongs(place: ResultsPlace, tried_again: list[str], saved: list[str]) -> list[list[str]]:
    """Return the trials whose folders to search, at a URL and on this machine, where it costs less."""
    here = list(dict.fromkeys([*tried_again, *saved]))
    return [here] if place.url is None else [tried_again, here]


def _newest_fence(place: ResultsPlace) -> int:
    """Return the number of the lease under which the mirrored journal's newest records were written."""
    if place.url is None:
        return 0
    from overtone.journal.segments import segments
    from overtone.store.files import RemoteFiles

    chain = segments(RemoteFiles(place.url))
    return chain[-1].fence if chain else 0


def _is_of(leftover: Leftover, digest: str) -> bool:
    """Return whether an attempt with this config saved it; not if that cannot be told."""
    return bool(digest) and leftover.state.get("config") == digest


def _is_live(trial: Trial) -> bool:
    """Return whether it had a process when the records end."""
    return trial.status.is_placed or trial.status is Status.PARKED


def _done(trial_id: str, attempt: int, time: float) -> Ended:
    """Return the end event of a trial whose last result says that it is done."""
    return Ended(time, trial_id, attempt, "returned")


def _order(leftover: Leftover) -> tuple[int, int]:
    return leftover.state["t"], leftover.fence


def _told(saved: Sequence[Leftover], trial_id: str, attempt: int, ruled_t: int, time: float) -> list[Event]:
    """Return what the trial told when it made these checkpoints, as far as that is newer than `ruled_t`."""
    events: list[Event] = []
    for one in saved:
        checkpoint = _checkpoint(one)
        for t, metrics, raw in _results(one):
            if t > ruled_t:
                ruled_t = t
                at = checkpoint if t == checkpoint.t else None
                events.append(Reported(time, trial_id, attempt, t, metrics, at, raw))
        if not events or getattr(events[-1], "checkpoint", None) != checkpoint:
            events.append(Saved(time, trial_id, attempt, checkpoint))
    last = next((one for one in reversed(events) if isinstance(one, Reported)), None)
    if last is not None and last.metrics.get("done") is True:
        events.append(_done(trial_id, attempt, time))
    return events


def _results(leftover: Leftover) -> Iterator[tuple[int, Metrics, str]]:
    """Yield the results stored with a checkpoint, as far as they can be read."""
    given = leftover.state.get("results")
    for raw in given if isinstance(given, list) else ():
        try:
            metrics = decode(raw)
            t = metrics["training_iteration"]
        except (ValueError, TypeError, KeyError):
            continue
        if type(t) is int:
            yield t, metrics, raw


def _checkpoint(leftover: Leftover) -> Checkpoint:
    t, is_automatic = leftover.state["t"], leftover.state.get("automatic") is True
    return Checkpoint(leftover.trial_id, t, leftover.uri, leftover.size_bytes, is_automatic)


def _remove(finder: Finder, found: list[Leftover], tell: Callable[[str], None]) -> None:
    """Delete these, and tell how much that was; what cannot be deleted stays for the next resume."""
    n = n_bytes = 0
    for one in found:
        try:
            finder.remove(one)
        except Exception as error:
            say(f"{one.uri} is not needed and cannot be deleted: {error}")
            break
        n, n_bytes = n + 1, n_bytes + one.size_bytes
    if n:
        saves = _counted(n, "unfinished save")
        tell(f"removed {saves} ({size_text(n_bytes)}) that the journal does not name")


def _tell_kept(found: Sequence[Leftover], tell: Callable[[str], None]) -> None:
    """Tell of checkpoints that are not deleted, since nothing in them says that Overtone saved them there."""
    if not found:
        return
    listed = [f"\n  {one.uri} ({size_text(one.size_bytes)})" for one in found[:MOST_TOLD]]
    more = len(found) - len(listed)
    here = [quote(one.uri) for one in found[:MOST_TOLD] if not one.names]
    tell(
        f"kept {_counted(len(found), 'checkpoint')} that the journal does not name, of an older version or "
        f"your own:{''.join(listed)}"
        + (f"\n  and {more} more" if more else "")
        + (f"\nto remove what is listed: rm -r {' '.join(here)}" if here else "")
    )


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"
