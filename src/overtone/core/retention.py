"""Which checkpoints are kept: what is needed, the newest, the best few, and no more than there is room."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from overtone.core.types import Checkpoint

NEWEST_AUTOMATIC = 2
"""So many of a trial's newest automatic checkpoints are kept: should one be damaged, there is the other."""

MOST_FALLBACKS = 100


class Entry(NamedTuple):
    """A checkpoint, and what it is worth: among those of its trial, and among those of all."""

    checkpoint: Checkpoint
    score: float
    merit: float


@dataclass(slots=True)
class Retention:
    """Decides when a checkpoint may be deleted.

    What is pinned stays: the one that a trial, a clone or a retry would go on from. Of the
    others go

        with `keep`         those of a trial that are not among its best, nor its newest
        without             of those that were saved automatically, all but the best and the
                            two newest; what somebody asked for stays
        with `most_bytes`   while all together take more: the worst of all trials, even the
                            last one of a trial that has ended

    Where what is pinned alone takes more than `most_bytes`, nothing can go: stores refuse
    to keep more until something can (`store.budgeted`).

    Attributes:
        keep: How many of its best a trial keeps, and the newest besides; None for all.
        most_bytes: How much all may take; None for no limit.
    """

    keep: int | None = None
    most_bytes: int | None = None
    _kept: dict[str, list[Entry]] = field(default_factory=dict)
    _pins: Counter[str] = field(default_factory=Counter)
    _rests: Counter[str] = field(default_factory=Counter)  # how many of the pins are of ended trials
    _due: dict[str, Entry] = field(default_factory=dict)
    _bytes: int = 0

    def add(self, checkpoint: Checkpoint, score: float, merit: float = 0.0) -> list[str]:
        """A checkpoint was saved, to a place where none was before.

        Args:
            checkpoint: The newest of its trial.
            score: Its worth in its trial; higher is better. Ties go to the newer.
            merit: Its worth among those of all trials.

        Returns:
            The uris that may be deleted now.
        """
        mine = self._kept.setdefault(checkpoint.trial_id, [])
        mine.append(Entry(checkpoint, score, merit))
        self._bytes += checkpoint.size_bytes
        gone = self._unwanted(mine)
        if gone:
            mine[:] = [entry for entry in mine if entry not in gone]
        return [*self._release(gone), *self._fit()]

    def pin(self, checkpoint: Checkpoint) -> None:
        """Somebody needs it: it is not deleted until as many unpins."""
        self._pins[checkpoint.uri] += 1

    def unpin(self, checkpoint: Checkpoint) -> list[str]:
        """Somebody no longer needs it; returns the uris that may be deleted now."""
        self._pins[checkpoint.uri] -= 1
        if self._pins[checkpoint.uri] > 0:
            return self._fit()
        del self._pins[checkpoint.uri]
        late = self._due.get(checkpoint.uri)
        return [*self._release([late] if late else []), *self._fit()]

    def rest(self, checkpoint: Checkpoint) -> list[str]:
        """One who pinned it has ended, and can do without it; returns the uris that may be deleted now."""
        self._rests[checkpoint.uri] += 1
        return self._fit()

    def wake(self, checkpoint: Checkpoint) -> None:
        """One who had ended needs it again."""
        self._rests[checkpoint.uri] -= 1

    def of(self, trial_id: str) -> list[Checkpoint]:
        """What is kept of a trial, oldest first."""
        return [entry.checkpoint for entry in self._kept.get(trial_id, ())]

    def sizes(self) -> dict[str, int]:
        """The bytes of all that is kept, or pinned, by uri; 0 where nobody knows."""
        entries = [*self._due.values(), *(entry for mine in self._kept.values() for entry in mine)]
        known = {entry.checkpoint.uri: entry.checkpoint.size_bytes for entry in entries}
        return {**{uri: 0 for uri, n in self._pins.items() if n > 0}, **known}

    def has(self, checkpoint: Checkpoint) -> bool:
        """Whether it is still there."""
        return checkpoint.uri in self._due or checkpoint in self.of(checkpoint.trial_id)

    def before(self, checkpoint: Checkpoint) -> tuple[Checkpoint, ...]:
        """What its trial saved before it and is kept, newest first: to go on from where it is damaged."""
        mine = self.of(checkpoint.trial_id)
        if checkpoint in mine:
            del mine[mine.index(checkpoint) :]
        earlier = [one for one in reversed(mine) if one.t <= checkpoint.t]
        return tuple(earlier[:MOST_FALLBACKS])

    def _unwanted(self, mine: list[Entry]) -> list[Entry]:
        """Those of one trial that are too many."""
        judged = mine if self.keep is not None else [one for one in mine if one.checkpoint.is_automatic]
        n_best, n_newest = (1, NEWEST_AUTOMATIC) if self.keep is None else (self.keep, 1)
        if len(judged) <= n_newest:
            return []
        ranked = sorted(judged, key=lambda entry: (entry.score, entry.checkpoint.t), reverse=True)
        wanted = {entry.checkpoint.uri for entry in (*ranked[:n_best], *judged[-n_newest:])}
        return [entry for entry in judged if entry.checkpoint.uri not in wanted]

    def _fit(self) -> list[str]:
        """Give up the worst while all take more than they may; what may be deleted now."""
        free: list[str] = []
        while self.most_bytes is not None and self._bytes > self.most_bytes:
            loose = [
                entry
                for mine in (self._due.values(), *self._kept.values())
                for entry in mine
                if entry.checkpoint.size_bytes
                and self._pins[entry.checkpoint.uri] <= self._rests[entry.checkpoint.uri]
            ]
            if not loose:
                break
            worst = min(loose, key=lambda entry: (entry.merit, entry.checkpoint.t))
            if worst.checkpoint.uri not in self._due:
                self._kept[worst.checkpoint.trial_id].remove(worst)
            del self._pins[worst.checkpoint.uri]
            free += self._release([worst])
        return free

    def _release(self, entries: list[Entry]) -> list[str]:
        """Let go of these; the uris of those that may be deleted now: the others wait for their unpins."""
        free = []
        for entry in entries:
            uri = entry.checkpoint.uri
            if self._pins[uri] > 0:
                self._due[uri] = entry
            else:
                self._due.pop(uri, None)
                del self._pins[uri], self._rests[uri]
                self._bytes -= entry.checkpoint.size_bytes
                free.append(uri)
        return free
