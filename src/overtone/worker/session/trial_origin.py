"""What a trial goes on from, as its code may ask for it."""

from __future__ import annotations

from typing import Any

from overtone.worker.checkpoints.checkpoint import Checkpoint
from overtone.worker.checkpoints.trial_checkpoints import Keeper
from overtone.worker.session.trial_context import Facts


class Origin(Facts):
    """The facts of one trial, and the checkpoint that it goes on from."""

    _keeper: Keeper

    @property
    def checkpoint(self) -> str | None:
        """The file or directory to go on from, its own or another trial's; None to begin anew."""
        restored = self._keeper.restored
        return restored.path if restored else None

    @property
    def saved_state(self) -> Any:
        """What to go on from as it was saved: the path, or the dict of the class API."""
        restored = self._keeper.restored
        return restored.like_saved if restored else None

    def get_checkpoint(self) -> Checkpoint | None:
        """What to go on from as a `Checkpoint`; None to begin anew."""
        restored = self._keeper.restored
        return Checkpoint(restored.directory) if restored else None
