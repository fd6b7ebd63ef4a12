"""Which checkpoints are kept: reference counts, the latest always, and the best few."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from overtone.core.types import Checkpoint


@dataclass(slots=True)
class Retention:
    """Decides when a checkpoint may be deleted.

    Attributes:
        keep: How many of its best a trial keeps, and the latest besides; None for all.
    """

    keep: int | None = None
    _saved: dict[str, list[tuple[float, Checkpoint]]] = field(default_factory=dict)
    _pins: Counter[str] = field(default_factory=Counter)
    _due: dict[str, Checkpoint] = field(default_factory=dict)

    def add(self, checkpoint: Checkpoint, score: float) -> list[str]:
        """A checkpoint was saved.

        Args:
            checkpoint: The newest of its trial.
            score: Its worth; higher is better. Ties go to the newer.

        Returns:
            The uris that may be deleted now.
        """
        self._due.pop(checkpoint.uri, None)  # saved anew, after a restart from an earlier one
        mine = self._saved.setdefault(checkpoint.trial_id, [])
        mine[:] = [entry for entry in mine if entry[1].uri != checkpoint.uri]
        mine.append((score, checkpoint))
        if self.keep is None:
            return []
        latest = mine[-1]
        ranked = sorted(mine, key=lambda entry: (entry[0], entry[1].t), reverse=True)
        kept = ranked[: self.keep]
        if latest not in kept:  # the trial would go on from it; not in the place of a better one
            kept.append(latest)
        gone = [entry for entry in mine if entry not in kept]
        mine[:] = [entry for entry in mine if entry in kept]
        return self._release([entry[1] for entry in gone])

    def pin(self, checkpoint: Checkpoint) -> None:
        """Somebody needs it: it is not deleted until as many unpins."""
        self._pins[checkpoint.uri] += 1

    def unpin(self, checkpoint: Checkpoint) -> list[str]:
        """Somebody no longer needs it; returns the uris that may be deleted now."""
        self._pins[checkpoint.uri] -= 1
        if self._pins[checkpoint.uri] > 0:
            return []
        del self._pins[checkpoint.uri]
        late = self._due.pop(checkpoint.uri, None)
        return [late.uri] if late else []

    def of(self, trial_id: str) -> list[Checkpoint]:
        """What is kept of a trial, oldest first."""
        return [checkpoint for _, checkpoint in self._saved.get(trial_id, ())]

    def _release(self, checkpoints: list[Checkpoint]) -> list[str]:
        free = []
        for checkpoint in checkpoints:
            if self._pins[checkpoint.uri] > 0:
                self._due[checkpoint.uri] = checkpoint
            else:
                del self._pins[checkpoint.uri]
                free.append(checkpoint.uri)
        return free
