"""A disk without room, as the session of one trial meets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from overtone.core.messages import Halt
from overtone.store.room import PATIENCE_S, lacks_room, try_for_room

T = TypeVar("T")


class Shortage:
    """Waits for room for as long as the trial is not told to halt.

    Args:
        look: Returns the Halt that has come, if any; called while the trial waits.
        say: Tells the user a line, once for all trials.

    Attributes:
        halt: The Halt that came during a wait, and that nobody has obeyed yet.
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
        """Return what `action` returns, once there is room for it.

        Args:
            is_over: Whether to give up; by default, whether a Halt has come.
            patience_s: How long to wait; by default `PATIENCE_S`.

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
        """Return whether `error` is a lack of room that was no longer waited for because of a Halt."""
        return self.halt is not None and lacks_room(error)

    def tell(self, error: Exception, what: str) -> None:
        """Tell the user of the first shortage, and what is done about it."""
        if not self._has_said:
            self._has_said = True
            self._say(f"no room to save: {error} ({what}; other trials do the same)")

    def take_halt(self) -> Halt | None:
        """Return the Halt that came during a wait, and forget it."""
        halt, self.halt = self.halt, None
        return halt

    def _is_called_off(self) -> bool:
        if self.halt is None:
            self.halt = self._look()
        return self.halt is not None
