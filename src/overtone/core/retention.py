"""Retention of checkpoints: needed ones, the newest and the best few, within a limit of bytes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from overtone.core.goal import lookup, real
from overtone.core.types import WORST, Checkpoint, Result

NEWEST_AUTOMATIC = 2
"""Number of a trial's newest automatic checkpoints that are kept: one may be damaged."""

MOST_FALLBACKS = 100


@dataclass(frozen=True, slots=True)
class MetricWorth:
    """The worth of a result's checkpoint by a metric: higher is better; the worst without a number.

    Attributes:
        metric: The metric, which may be nested: "a/b".
        sign: -1.0 if low values are better.
    """

    metric: str
    sign: float = 1.0

    def __call__(self, result: Result) -> float:
        value = lookup(result.metrics, self.metric)
        return self.sign * real(value) if isinstance(value, (int, float)) and value == value else WORST


class Entry(NamedTuple):
    """A checkpoint with its worth within its trial and its worth among all trials."""

    checkpoint: Checkpoint
    score: float
    merit: float


@dataclass(slots=True)
class Retention:
    """Decides when a checkpoint may be deleted.

    Pinned checkpoints stay: a trial, a clone or a retry would restore them. Of the others,
    these are deleted:

        with `keep`         a trial's checkpoints, except its best and its newest
        without             automatic checkpoints, except the best and the two newest;
                            requested checkpoints stay
        with `most_bytes`   while the sum is larger: the worst checkpoint of all trials, even
                            the last one of a trial that has ended

    If the pinned checkpoints alone take more than `most_bytes`, none can be deleted: stores
    refuse to keep more until one can be (`store.budgeted`).

    Attributes:
        keep: Number of best checkpoints kept per trial, besides the newest; None for all.
        most_bytes: Most bytes of all checkpoints; None for no limit.
    """

    keep: int | None = None
    most_bytes: int | None = None
    _kept: dict[str, list[Entry]] = field(default_factory=dict)
    _pins: Counter[str] = field(default_factory=Counter)
    _rests: Counter[str] = field(default_factory=Counter)  # Number of pins of ended trials.
    _due: dict[str, Entry] = field(default_factory=dict)
    _bytes: int = 0

    def add(self, checkpoint: Checkpoint, score: float, merit: float = 0.0) -> list[str]:
        """Add a checkpoint with a new uri.

        Args:
            checkpoint: The newest of its trial.
            score: Its worth in its trial; higher is better. Ties go to the newer.
            merit: Its worth among the checkpoints of all trials.

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
        """Pin a checkpoint: it is not deleted until it was unpinned as often."""
        self._pins[checkpoint.uri] += 1

    def unpin(self, checkpoint: Checkpoint) -> list[str]:
        """Unpin a checkpoint; return the uris that may be deleted now."""
        self._pins[checkpoint.uri] -= 1
        if self._pins[checkpoint.uri] > 0:
            return self._fit()
        del self._pins[checkpoint.uri]
        late = self._due.get(checkpoint.uri)
        return [*self._release([late] if late else []), *self._fit()]

    def rest(self, checkpoint: Checkpoint) -> list[str]:
        """Mark one pin as that of an ended trial; return the uris that may be deleted now."""
        self._rests[checkpoint.uri] += 1
        return self._fit()

    def wake(self, checkpoint: Checkpoint) -> None:
        """Undo `rest`: an ended trial needs the checkpoint again."""
        self._rests[checkpoint.uri] -= 1

    def of(self, trial_id: str) -> list[Checkpoint]:
        """Return the kept checkpoints of a trial, oldest first."""
        return [entry.checkpoint for entry in self._kept.get(trial_id, ())]

    def sizes(self) -> dict[str, int]:
        """Return the bytes of all kept or pinned checkpoints, by uri; 0 if unknown."""
        entries = [*self._due.values(), *(entry for mine in self._kept.values() for entry in mine)]
        known = {entry.checkpoint.uri: entry.checkpoint.size_bytes for entry in entries}
        return {**{uri: 0 for uri, n in self._pins.items() if n > 0}, **known}

    def has(self, checkpoint: Checkpoint) -> bool:
        """Return whether the checkpoint is still kept."""
        return checkpoint.uri in self._due or checkpoint in self.of(checkpoint.trial_id)

    def before(self, checkpoint: Checkpoint) -> tuple[Checkpoint, ...]:
        """Return the trial's earlier kept checkpoints, newest first, to restore if this one is damaged."""
        mine = self.of(checkpoint.trial_id)
        if checkpoint in mine:
            del mine[mine.index(checkpoint) :]
        earlier = [one for one in reversed(mine) if one.t <= checkpoint.t]
        return tuple(earlier[:MOST_FALLBACKS])

    def _unwanted(self, mine: list[Entry]) -> list[Entry]:
        """Return the checkpoints of one trial that need not be kept."""
        judged = mine if self.keep is not None else [one for one in mine if one.checkpoint.is_automatic]
        n_best, n_newest = (1, NEWEST_AUTOMATIC) if self.keep is None else (self.keep, 1)
        if len(judged) <= n_newest:
            return []
        ranked = sorted(judged, key=lambda entry: (entry.score, entry.checkpoint.t), reverse=True)
        wanted = {entry.checkpoint.uri for entry in (*ranked[:n_best], *judged[-n_newest:])}
        return [entry for entry in judged if entry.checkpoint.uri not in wanted]

    def _fit(self) -> list[str]:
        """Drop the worst checkpoints while the sum exceeds `most_bytes`; return the uris to delete now."""
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
        """Drop entries; return the uris to delete now. Pinned ones wait for their unpins."""
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
