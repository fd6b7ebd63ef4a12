"""The number of configs to request from the searcher, and whether it has any left."""

from __future__ import annotations

from bisect import insort


class Supply:
    """Counts the requests to the searcher and its answers.

    Answers come in the order of the requests. An index that was answered with None is requested
    again, so that no suggestion is drawn twice and none is left out.

    Attributes:
        outstanding: Number of requests without an answer.
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
        """Whether the searcher has no more suggestions, as far as known."""
        spent = self._total is not None and self._asked >= self._total
        return not self.outstanding and (spent or self._is_dry)

    @property
    def remaining(self) -> int:
        """The number of further requests to the searcher, as far as known; 0 if the total is unknown."""
        return 0 if self._total is None or self._is_dry else max(0, self._total - self._asked)

    @property
    def surplus(self) -> int:
        """The number of requests so far beyond the total."""
        return 0 if self._total is None else max(0, self._asked - self._total)

    @property
    def is_endless(self) -> bool:
        """Whether the number of suggestions is unknown and there may be more now."""
        return self._total is None and not self._is_dry and not self.outstanding

    def on_answer(self, index: int, has_config: bool) -> None:
        """Record the searcher's answer for `index`."""
        self.outstanding -= 1
        self._open.remove(index)
        is_doubtful = self._n_doubtful > 0
        self._n_doubtful -= is_doubtful
        if not has_config:
            insort(self._again, index)
            self._is_dry = self._is_dry or not is_doubtful

    def take_back(self, index: int) -> None:
        """Let the suggestion at `index` be requested again: its trial ended before it started."""
        insort(self._again, index)

    def on_end(self) -> None:
        """Record the end of a trial: a searcher without suggestions may have some now."""
        self._is_dry = False
        self._n_doubtful = self.outstanding

    def ask(self, pending: int, room: int) -> list[int]:
        """Return the indices to request now.

        Args:
            pending: How many trials wait for resources.
            room: Number of further trials with a free slot.
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

    def resize(self, total: int | None, lookahead: int) -> list[int]:
        """Change the size of the search, or resume it; return the indices without an answer.

        A searcher without suggestions may have some now. If `total` is below the number of requests so
        far, no more are made.
        """
        self._total, self._lookahead = total, lookahead
        self.on_end()
        return list(self._open)

    @property
    def _asked(self) -> int:
        return self._next - len(self._again)
