"""When a trial saves without being told to: every so many iterations, or as often as it costs little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SavingRule:
    """Says when to save.

    With `every=None` a trial is saved

    - for the first time when it has run for `first_s`;
    - then so often that saving takes at most `share` of its time: each save is paid off,
      by what it took, with the time until the next, which is `first_s` at least;
    - but so that no more than `longest_s` of its work are ever lost, whatever saving takes;
    - and at its end, where all its attempts together took `first_s` or more: to do less than
      that again costs less than to save thousands of short trials.

    Saves that somebody asked for count as well. Classes save at their end; a function is not
    called again once it returned, so only what it hands over itself is kept then.

    Args:
        every: Save every so many iterations; 0 for never, None for the rule above.
        at_end: Whether to save at the end; None for what follows from `every`.
        clock: Seconds, from any origin.
        before_s: How long earlier attempts ran.

    Attributes:
        first_s, longest_s: In seconds.
        share: The part of the time that saving may take.
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
        self._prepared_s = 0.0  # what the next one has cost so far
        self._begun: float | None = None
        self._t, self._t_at, self._step_s = 0, now, 0.0

    @property
    def is_automatic(self) -> bool:
        """Whether nobody said when to save."""
        return self._every is None

    @property
    def pause_s(self) -> float:
        """How long the trial goes on after a save before the next one is due, in seconds."""
        return min(max(self.first_s, self._cost_s * (1 / self.share - 1)), self.longest_s)

    @property
    def has_begun(self) -> bool:
        """Whether a save was asked for, and is not done."""
        return self._begun is not None

    def is_due(self, t: int) -> bool:
        """Whether the state after result `t` is to be saved."""
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
        """Whether the state is to be saved when the trial ends."""
        if self._at_end is not None:
            return self._at_end
        return self._every is None and not self._is_off and self._clock() - self._born >= self.first_s

    def begin(self) -> None:
        """A save begins here, which `saving` ends."""
        self._begun = self._clock()

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """The block is a part of the next save."""
        begun = self._clock() if self._begun is None else self._begun
        try:
            yield
        finally:
            self._begun = None
            self._prepared_s += self._clock() - begun

    @contextmanager
    def saving(self) -> Iterator[None]:
        """The block saves; what it takes counts, even where it fails."""
        begun = self._clock() if self._begun is None else self._begun
        try:
            yield
        finally:
            self._since = self._clock()
            self._cost_s = self._prepared_s + self._since - begun
            self._prepared_s, self._begun = 0.0, None

    def switch_off(self) -> None:
        """Save only when told to from now on."""
        self._is_off = True
