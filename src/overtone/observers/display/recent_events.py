"""The latest events as lines, at most as many as fit on a screen."""

from __future__ import annotations

from overtone.observers.display.progress import Progress
from overtone.observers.display.sentences import ended, reported

LINES_PER_SECOND = 100


class News:
    """Makes one line of each trial that ended (and of each result that the run keeps).

    What finds no room within its second is counted and told as a number, so that all the
    numbers add up: "... 312 more trials finished".
    """

    def __init__(self, progress: Progress, now: float) -> None:
        self._progress = progress
        self._window = now
        self._in_window = 0
        self._n_told = 0  # how many endings were told of, one by one or as a number
        self._n_left_out = 0  # results that got no line

    def lines(self, now: float) -> list[str]:
        """Return the lines to show now, `now` being seconds of real time."""
        progress = self._progress
        lines: list[str] = []
        if now - self._window >= 1.0:
            lines += self.left_out(progress.n_endings_before)
            self._window, self._in_window = now, len(lines)
        for row, event in progress.results:
            if self._has_room():
                lines.append(reported(progress, row, event))
            else:
                self._n_left_out += 1
        n_new = progress.n_endings - progress.n_endings_before
        for i, ending in enumerate(progress.endings):
            if self._n_told < progress.n_endings_before + i or not self._has_room():
                break  # what was left out comes first, as a number
            self._n_told += 1
            lines.append(ended(progress, ending, progress.n_ended - n_new + i + 1))
        return lines

    def left_out(self, n_endings: int) -> list[str]:
        """Return lines that count the results and endings not shown, up to the ending number `n_endings`."""
        lines = []
        if self._n_left_out:
            lines.append(f"... {self._n_left_out} more results")
        if n_endings > self._n_told:
            n = n_endings - self._n_told
            lines.append(f"... {n} more trial{'' if n == 1 else 's'} finished")
            self._n_told = n_endings
        self._n_left_out = 0
        return lines

    def _has_room(self) -> bool:
        if self._in_window >= LINES_PER_SECOND - 2:  # the rest is for what was left out
            return False
        self._in_window += 1
        return True
