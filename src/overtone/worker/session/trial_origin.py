"""The checkpoint that a trial is restored from."""

from __future__ import annotations

from typing import Any

from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.trial_checkpoints import Keeper
from overtone.worker.session.trial_context import Facts


class Origin(Facts):
    """The facts of one trial, and the checkpoint that it is restored from."""

    _keeper: Keeper

    @property
    def checkpoint(self) -> str | None:
        """The file or directory to restore from, its own or another trial's; None if there is none."""
        restored = self._keeper.restored
        return restored.path if restored else None

    @property
    def saved_state(self) -> Any:
        """The state to restore from as it was saved: the path, or the dict of the class API."""
        restored = self._keeper.restored
        return restored.like_saved if restored else None

    def get_checkpoint(self) -> Checkpoint | None:
        """Return the `Checkpoint` to restore from; None if there is none."""
        restored = self._keeper.restored
        return Checkpoint(restored.directory) if restored else None
