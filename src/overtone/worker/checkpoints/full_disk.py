"""Handling of a full disk in the session of one trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from overtone.core.messages import Halt
from overtone.store.room import PATIENCE_S, lacks_room, try_for_room

T = TypeVar("T")


class Shortage:
    """Waits for free disk space until the trial is told to halt.

    Args:
        look: Returns the Halt that has arrived, if any; called while the trial waits.
        say: Prints a line for the user, once for all trials.

    Attributes:
        halt: The Halt that arrived during a wait and is not obeyed yet.
    """

    def __init__(self, look: Callable[[], Halt | None], say: Callable[[str], None]) -> None:
        self._look, self._say = look, say
        self._has_said = False
        self.halt: Halt | None = None

    def wait(
        self,
        action: Callable[[], T],
        is_over: Callable[[], bool] | None = None,
        patience_s: float | None = None,
    ) -> T:
        """Call `action` until the disk has room for it, and return its result.

        Args:
            is_over: Returns whether to give up; by default, whether a Halt has arrived.
            patience_s: Longest wait in seconds; by default `PATIENCE_S`.

        Raises:
            Exception: The last failure of `action`.
        """
        return try_for_room(
            action,
            is_over or self._is_called_off,
            lambda error: self.tell(error, f"waiting up to {patience_s or PATIENCE_S:g} s for it"),
            patience_s,
        )

    def excuses(self, error: Exception) -> bool:
        """Return whether `error` is a lack of room and the wait for room ended because of a Halt."""
        return self.halt is not None and lacks_room(error)

    def tell(self, error: Exception, what: str) -> None:
        """Tell the user about the first shortage and the reaction to it."""
        if not self._has_said:
            self._has_said = True
            self._say(f"no room to save: {error} ({what}; other trials do the same)")

    def take_halt(self) -> Halt | None:
        """Return the Halt that arrived during a wait, and clear it."""
        halt, self.halt = self.halt, None
        return halt

    def _is_called_off(self) -> bool:
        if self.halt is None:
            self.halt = self._look()
        return self.halt is not None
