"""Saves of one trial that may fail: which failures end the trial, and which leave a line for the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from overtone.core.types import Checkpoint
from overtone.errors import NoRoomError
from overtone.store.room import HURRIED_S, lacks_room
from overtone.worker.checkpoints.full_disk import Shortage
from overtone.worker.checkpoints.saving_rule import SavingRule

T = TypeVar("T")


class SaveAttempts:
    """Runs a trial's saves, waits for room on the disk, and tells the user of states that are not kept.

    Args:
        rule: Counts the time of saves, and is switched off by an automatic save that fails.
        shortage: Waits for room.
        say: Prints a line about the trial.
    """

    def __init__(self, rule: SavingRule, shortage: Shortage, say: Callable[[str], None]) -> None:
        self._rule, self._shortage, self._say = rule, shortage, say
        self._told: set[str] = set()

    def keep(
        self, save: Callable[[], Checkpoint | None], is_automatic: bool, is_last: bool
    ) -> Checkpoint | None:
        """Run `save` when the disk has room; return None beyond `max_disk`, or if an automatic save fails.

        Args:
            is_automatic: Whether nobody requested the save, so that it may fail and does not wait.
            is_last: Whether the trial ends after this save, and waits less for room.

        Raises:
            Exception: A requested save failed.
        """
        try:
            if is_automatic:
                return self.timed(save)
            return self._shortage.wait(lambda: self.timed(save), patience_s=HURRIED_S if is_last else None)
        except NoRoomError as error:
            self.tell_no_room(error)
        except Exception as error:
            is_excused = (is_automatic or is_last) and lacks_room(error)
            if is_excused or self._shortage.excuses(error):
                self._shortage.tell(error, "this state is not kept")
                return None
            if not is_automatic:
                raise
            if not isinstance(error, OSError):  # the disk may get room again; but code does not change
                self._rule.switch_off()
            self.tell_once("failed", f"it could not be saved, and goes on: {type(error).__name__}: {error}")
        return None

    def timed(self, save: Callable[[], T]) -> T:
        """Run `save` and count its time, without a wait for room, as saving time."""
        with self._rule.saving():
            return save()

    def tell_no_room(self, error: NoRoomError) -> None:
        """Tell the user once that a state exceeds `max_disk`."""
        self.tell_once("no room", f"this state is not kept: {error}")

    def tell_once(self, kind: str, text: str) -> None:
        """Tell the user the first text of each kind."""
        if kind not in self._told:
            self._told.add(kind)
            self._say(text)
