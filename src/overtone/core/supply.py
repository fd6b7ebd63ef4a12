"""How many configurations to ask the searcher for, and whether it has any left."""

from __future__ import annotations


class Supply:
    """Keeps count of what was asked of the searcher and what it answered.

    Attributes:
        outstanding: How many questions have no answer yet.
    """

    def __init__(self, total: int | None, lookahead: int) -> None:
        self._total = total
        self._lookahead = lookahead
        self._asked = 0
        self._is_dry = False
        self.outstanding = 0

    @property
    def is_over(self) -> bool:
        """Whether the searcher has nothing more, as far as is known now."""
        spent = self._total is not None and self._asked >= self._total
        return not self.outstanding and (spent or self._is_dry)

    def on_answer(self, has_config: bool) -> None:
        """The searcher answered one question."""
        self.outstanding -= 1
        if not has_config:
            self._asked -= 1
            self._is_dry = True

    def on_end(self) -> None:
        """A trial ended: a searcher that had nothing may have something now."""
        self._is_dry = False

    def ask(self, pending: int, room: int) -> range:
        """The indices to ask for now.

        Args:
            pending: How many trials wait for resources.
            room: How many more trials there are free slots for.
        """
        if self._is_dry:
            return range(0)
        wanted = max(self._lookahead - pending, room) - self.outstanding
        if self._total is not None:
            wanted = min(wanted, self._total - self._asked)
        first = self._asked
        self._asked += max(0, wanted)
        self.outstanding += max(0, wanted)
        return range(first, self._asked)
