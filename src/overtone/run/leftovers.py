"""What becomes of checkpoints that no record names: whole and newer ones are taken in, others deleted.

A driver that was killed, or whose machine was lost, may have missed the word of a checkpoint
that a trial had put already. The event is made up for: a `Saved`, as the trial would have sent
it. It is a fact of the journal from then on, and a replay knows no difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from overtone.core.messages import Saved
from overtone.core.trial import Status, Trial
from overtone.core.types import Checkpoint
from overtone.run.loop import warn
from overtone.run.place import patiently
from overtone.store.moved import key_of
from overtone.worker.saving import config_digest

if TYPE_CHECKING:
    from overtone.run.compose import Parts
    from overtone.run.outstanding import Outstanding
    from overtone.run.place import Place
    from overtone.store.leftovers import Leftover

SETTLED_S = 60.0
"""An unfinished save that did not change for so long has no process on another machine."""


class Finder(Protocol):
    """Finds and removes leftovers; see `store.leftovers`."""

    def find(self, named: frozenset[str] | None, trials: Iterable[str] | None = None) -> list[Leftover]: ...

    def remove(self, leftover: Leftover) -> None: ...


def take_in(parts: Parts, outstanding: Outstanding) -> list[Saved]:
    """Return the events of checkpoints that no record names; those of no use are deleted.

    Called after the replay and before any trial starts, by the one driver that may write.

    Args:
        outstanding: Knows the checkpoints that are still to be deleted.

    Raises:
        StorageError: The store stays away.
    """
    controller, place = parts.controller, parts.place
    fence = patiently(lambda: _newest_fence(place))
    named = frozenset(filter(None, map(key_of, (*controller.kept_uris, *outstanding.discards))))
    events: list[Saved] = []
    for finder in _finders(parts):
        found = patiently(lambda finder=finder: finder.find(named))  # type: ignore[misc]
        found = [one for one in found if one.is_ours]
        wanted = [one for one in found if is_wanted(one, controller.trials, fence)]
        _remove(finder, [one for one in found if one not in wanted])
        events += [_saved(one, controller.trials[one.trial_id], parts.engine.now()) for one in wanted]
    if events:
        n_trials = len({one.trial_id for one in events})
        saves = f"{_counted(len(events), 'save')} of {_counted(n_trials, 'trial')}"
        warn(f"added {saves} that the journal did not name yet")
    return sorted(events, key=lambda one: (one.trial_id, one.checkpoint.t))


def clear_up(parts: Parts) -> None:
    """Delete the parts of saves and deletions that killed processes left; no trial runs any more."""
    trials, is_resumed = parts.controller.trials.values(), parts.past is not None
    if parts.engine.repeats and not is_resumed:
        return
    tried_again = [one.id for one in trials if one.attempt > 1 or one.status is Status.ERROR]
    saved = [one.id for one in trials if one.checkpoint is not None]
    for finder, among in zip(_finders(parts), _amongs(parts.place, tried_again, saved), strict=True):
        if is_resumed or among:
            try:
                _remove(finder, finder.find(None, None if is_resumed else among))
            except Exception as error:
                warn(f"what killed processes left cannot be found: {error}")


def is_wanted(leftover: Leftover, trials: Mapping[str, Trial], fence: int) -> bool:
    """Return whether its trial can go on from it: it is newer, of the same config, and of no earlier attempt.

    Args:
        fence: The number of the lease under which the journal's newest records were written. What
            an earlier holder saved after that is not of the same history.
    """
    trial, state = trials.get(leftover.trial_id), leftover.state
    if trial is None or trial.status.is_final or leftover.fence < fence:
        return False
    if not leftover.is_whole or leftover.is_damaged:
        return False
    t, attempt = state.get("t"), state.get("attempt")
    if type(t) is not int or type(attempt) is not int or attempt < trial.attempt:
        return False
    known_t = trial.checkpoint.t if trial.checkpoint is not None else 0
    return t > known_t and state.get("config") == config_digest(trial.config)


def _finders(parts: Parts) -> list[Finder]:
    # over several machines, the processes of most of which are not seen
    is_spread = parts.engine.is_elastic and parts.engine.isolates
    return list(parts.place.leftovers(SETTLED_S if is_spread else 0.0))


def _amongs(place: Place, tried_again: list[str], saved: list[str]) -> list[list[str]]:
    """Whose folders to look at, at a URL and on this machine, where a look costs less."""
    here = list(dict.fromkeys([*tried_again, *saved]))
    return [here] if place.url is None else [tried_again, here]


def _newest_fence(place: Place) -> int:
    """The number of the lease under which the mirrored journal's newest records were written."""
    if place.url is None:
        return 0
    from overtone.journal.segments import segments
    from overtone.store.files import RemoteFiles

    chain = segments(RemoteFiles(place.url))
    return chain[-1].fence if chain else 0


def _saved(leftover: Leftover, trial: Trial, time: float) -> Saved:
    t, is_automatic = leftover.state["t"], leftover.state.get("automatic") is True
    checkpoint = Checkpoint(trial.id, t, leftover.uri, leftover.size_bytes, is_automatic)
    return Saved(time, trial.id, trial.attempt, checkpoint)


def _remove(finder: Finder, found: list[Leftover]) -> None:
    """Delete these, and say how much that was; what cannot be deleted stays for the next resume."""
    n = n_bytes = 0
    for one in found:
        try:
            finder.remove(one)
        except Exception as error:
            warn(f"{one.uri} is not needed and cannot be deleted: {error}")
            break
        n, n_bytes = n + 1, n_bytes + one.size_bytes
    if n:
        warn(f"removed {_counted(n, 'unfinished save')} ({_size(n_bytes)}) that the journal does not name")


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} TB"
