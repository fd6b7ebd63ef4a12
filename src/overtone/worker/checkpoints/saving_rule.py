"""Rule for automatic saves: every n iterations, or as often as the overhead limit allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SavingRule:
    """Decides when a trial saves.

    With `every=None` a trial is saved

    - for the first time after it has run for `first_s`;
    - then after pauses that keep the overhead of saving at or below `share`: the pause after a save
      follows from the duration of that save, and is at least `first_s`;
    - but at the latest when `longest_s` of work would be lost, even if saving then exceeds `share`;
    - and at its end, if all its attempts together took `first_s` or more: repeating less work than
      that costs less than saving thousands of short trials.

    Requested saves count as well. Classes save at their end. A function is not called again after it
    returned, so only checkpoints that it reported itself are kept then.

    Args:
        every: Save every this many iterations; 0 for never, None for the rule above.
        at_end: Whether to save at the end; None to decide by `every`.
        clock: Returns the time in seconds, from any origin.
        before_s: Running time of earlier attempts, in seconds.

    Attributes:
        first_s: Shortest pause between saves, in seconds.
        longest_s: Longest pause between saves, in seconds.
        share: Largest part of the time that saving may take.
    """

    first_s = 10.0
    longest_s = 600.0
    share = 0.05

    def __init__(
        self, every: int | None, at_end: bool | None, clock: Callable[[], float], before_s: float = 0.0
    ) -> None:
        self._every, self._at_end, self._clock = every, at_end, clock
        self._is_off = False
        now = clock()
        self._born = now - before_s
        self._since = now  # the last save, or the start
        self._cost_s = 0.0  # of the last save
        self._prepared_s = 0.0  # cost of the next save so far
        self._begun: float | None = None
        self._t, self._t_at, self._step_s = 0, now, 0.0

    @property
    def is_automatic(self) -> bool:
        """Whether `every` was not given, so that this rule decides when to save."""
        return self._every is None

    @property
    def pause_s(self) -> float:
        """Time from a save until the next save is due, in seconds."""
        return min(max(self.first_s, self._cost_s * (1 / self.share - 1)), self.longest_s)

    @property
    def has_begun(self) -> bool:
        """Whether a save has begun and is not done."""
        return self._begun is not None

    def is_due(self, t: int) -> bool:
        """Return whether to save the state after result `t`."""
        if self._every is not None:
            return self._every > 0 and t > 0 and t % self._every == 0
        if self._is_off or t <= 0:
            return False
        now = self._clock()
        if t != self._t:
            self._t, self._t_at, self._step_s = t, now, now - self._t_at
        since_s = now - self._since
        # when the next iteration ends it may be too late
        return since_s >= self.pause_s or since_s + self._step_s > self.longest_s

    def is_due_at_end(self) -> bool:
        """Return whether to save the state when the trial ends."""
        if self._at_end is not None:
            return self._at_end
        return self._every is None and not self._is_off and self._clock() - self._born >= self.first_s

    def begin(self) -> None:
        """Note the begin of a save, which `saving` completes."""
        self._begun = self._clock()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Count the time of the block as a part of the next save."""
        begun = self._clock() if self._begun is None else self._begun
        try:
            yield
        finally:
            self._begun = None
            self._prepared_s += self._clock() - begun

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Count the time of the block as a save, even if the block raises."""
        begun = self._clock() if self._begun is None else self._begun
        try:
            yield
        finally:
            self._since = self._clock()
            self._t_at += self._since - begun  # A save is not a part of the next iteration.
            self._cost_s = self._prepared_s + self._since - begun
            self._prepared_s, self._begun = 0.0, None

    def switch_off(self) -> None:
        """Turn automatic saves off; requested saves remain."""
        self._is_off = True
