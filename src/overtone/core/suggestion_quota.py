"""How many configurations to ask the searcher for, and whether it has any left."""

from __future__ import annotations

from bisect import insort


class Supply:
    """Keeps count of what was asked of the searcher and what it answered.

    Answers come in the order of the questions. An index that was answered with None is
    asked for again, so that no suggestion is drawn twice and none is left out.

    Attributes:
        outstanding: How many questions have no answer yet.
    """

    def __init__(self, total: int | None, lookahead: int) -> None:
        self._total = total
        self._lookahead = lookahead
        self._next = 0
        self._again: list[int] = []
        self._open: list[int] = []
        self._is_dry = False
        self._n_doubtful = 0
        self.outstanding = 0

    @property
    def is_over(self) -> bool:
        """Whether the searcher has nothing more, as far as is known now."""
        spent = self._total is not None and self._asked >= self._total
        return not self.outstanding and (spent or self._is_dry)

    @property
    def remaining(self) -> int:
        """How many suggestions there will be, as far as is known."""
        return 0 if self._total is None or self._is_dry else max(0, self._total - self._asked)

    @property
    def is_endless(self) -> bool:
        """Whether nobody knows how many suggestions there will be, and there may be more now."""
        return self._total is None and not self._is_dry and not self.outstanding

    def on_answer(self, index: int, has_config: bool) -> None:
        """The searcher answered the question for `index`."""
        self.outstanding -= 1
        self._open.remove(index)
        is_doubtful = self._n_doubtful > 0
        self._n_doubtful -= is_doubtful
        if not has_config:
            insort(self._again, index)
            self._is_dry = self._is_dry or not is_doubtful

    def on_end(self) -> None:
        """A trial ended: a searcher that had nothing, or is about to say so, may have something now."""
        self._is_dry = False
        self._n_doubtful = self.outstanding

    def ask(self, pending: int, room: int) -> list[int]:
        """The indices to ask for now.

        Args:
            pending: How many trials wait for resources.
            room: How many more trials there are free slots for.
        """
        wanted = max(self._lookahead - pending, room) - self.outstanding
        if self._total is not None and wanted > 0:
            wanted = min(wanted, self._total - self._asked)
        if self._is_dry or wanted <= 0:
            return []
        indices, self._again = self._again[:wanted], self._again[wanted:]
        fresh = range(self._next, self._next + wanted - len(indices))
        self._next = fresh.stop
        self.outstanding += wanted
        indices = [*indices, *fresh]
        self._open += indices
        return indices

    def reopen(self, total: int | None, lookahead: int) -> list[int]:
        """Go on, for a search of another size perhaps; what was asked and has no answer yet."""
        self._total, self._lookahead = total, lookahead
        self._is_dry = False
        self._n_doubtful = self.outstanding
        return list(self._open)

    @property
    def _asked(self) -> int:
        return self._next - len(self._again)
