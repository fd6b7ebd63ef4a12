"""Display in a terminal: a table that stays at the bottom and is redrawn without a separate thread."""

from __future__ import annotations

import atexit
from collections import deque
from collections.abc import Callable
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from overtone.observers.display.held_signals import held_signals
from overtone.observers.display.live_layout import Frame, Line
from overtone.observers.display.plain_text import width
from overtone.observers.display.progress import Progress
from overtone.observers.display.recent_events import News
from overtone.observers.display.safe_stream import Writer
from overtone.observers.display.sentences import beginning, ended, summary
from overtone.observers.display.trial_output import TrialOutput

if TYPE_CHECKING:
    from rich.console import Console as Screen
    from rich.live import Live

REFRESH_S = 0.25
COST = 40
"""A frame that took 10 ms is followed by 400 ms without one: the console takes 2.5 % of the loop."""
FIRST_S = 0.3
"""Seconds before the first frame: a shorter run draws nothing and does not import rich."""

_MAX_BUFFERED = 65_536  # characters that trials printed, waiting for the next frame
_RATE_WINDOW_S = 10.0
_FINAL_ROWS = 10


class LiveTable:
    """Draws the run at the bottom of the terminal; all else that is printed goes above it.

    Args:
        progress: The run.
        out: The terminal.
        pace: Seconds of real time; it bounds how often is drawn.
        tells_all: Whether each trial's end and each kept result get a line above; else failures only.
        screen: Rich's console, where it is not to be made from `out`.
    """

    def __init__(
        self,
        progress: Progress,
        out: Writer,
        pace: Callable[[], float],
        tells_all: bool = False,
        screen: Screen | None = None,
    ) -> None:
        self._progress = progress
        self._out = Writer(out.stream)  # the terminal itself: standard output is redirected while we draw
        self._pace = pace
        self._frame = Frame(progress)
        self._picture = _Picture()
        self._news = News(progress, pace()) if tells_all else None
        self._output = TrialOutput()
        self._above: list[str] = []
        self._n_above = 0
        self._screen = screen
        self._live: Live | None = None
        self._drawn: list[int] = []  # the widths of the lines that were drawn last
        self._next = pace() + FIRST_S
        self._speed: deque[tuple[float, int]] = deque()

    def open(self) -> None:
        """Print the first lines of the run."""
        self._out.lines(beginning(self._progress))

    def refresh(self) -> None:
        """Draw a frame, if it is time."""
        now = self._pace()
        self._take_news(now)
        if now < self._next:
            if self._n_above > _MAX_BUFFERED:
                self._print_above()
            return
        try:
            with held_signals():  # half a frame would stay on the screen
                screen, live = self._started()
                start = self._pace()  # the first frame imports rich: do not count it in the cost of frames
                self._draw(screen, live, start)
        except BaseException:
            self._stop()
            raise
        end = self._pace()
        self._next = end + max(REFRESH_S, (end - start) * COST)

    def show_output(self, trial_id: str, stream: str, text: str) -> None:
        """Show a trial's output, with its name; it appears above the table with the next frame."""
        self._put_above(self._output.feed(trial_id, stream, text, colours=self._has_colours()))

    def close(self) -> None:
        """Take the table away and leave the best trials and the summary."""
        with held_signals():
            self._close()

    def _close(self) -> None:
        self._take_news(self._pace())
        if self._news is not None:
            self._put_above("".join(line + "\n" for line in self._news.left_out(self._progress.n_endings)))
        self._put_above(self._output.rest(colours=self._has_colours()))
        self._stop()
        self._print_above()
        room = get_terminal_size().columns if self._screen is None else self._screen.size.width - 1
        lines = summary(self._progress, self._progress.facts.clock(), room)
        if self._screen is None:
            self._out.lines(lines)
            return
        self._picture.lines = self._frame.table(room, _FINAL_ROWS)
        if self._picture.lines:
            self._screen.print(self._picture, soft_wrap=True)
            self._out.write("\n")
        self._out.lines(lines)

    # --- drawing -----------------------------------------------------------------------

    def _draw(self, screen: Screen, live: Live, now: float) -> None:
        columns, rows = screen.size
        lines = self._frame.draw(columns, rows, self._rate(now))
        self._make_up_for_wrapping(screen, columns)
        self._picture.lines = lines
        if self._above:
            self._print_above()  # redraws the picture below
        else:
            live.refresh()
        self._drawn = [sum(width(text) for text, _ in line) for line in lines]

    def _started(self) -> tuple[Screen, Live]:
        if self._live is not None and self._screen is not None:
            return self._screen, self._live
        from rich.console import Console
        from rich.live import Live

        if self._screen is None:
            self._screen = Console(file=self._out.stream, highlight=False, markup=False, emoji=False)
        self._live = Live(
            self._picture,
            console=self._screen,
            auto_refresh=False,
            transient=True,
            vertical_overflow="crop",
        )
        atexit.register(self._stop)
        self._live.start()
        return self._screen, self._live

    def _stop(self) -> None:
        """Give the terminal back; twice is safe."""
        if self._live is not None:
            live, self._live = self._live, None
            atexit.unregister(self._stop)
            if self._screen is not None:
                self._make_up_for_wrapping(self._screen, self._screen.size.width)
            live.stop()

    def _make_up_for_wrapping(self, screen: Screen, columns: int) -> None:
        """Climb over the lines that a terminal made of wide ones when it became narrower."""
        from rich.control import Control
        from rich.segment import ControlType

        extra = sum(max(one - 1, 0) // columns for one in self._drawn)
        if extra:
            step = (ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)
            screen.file.write(str(Control(ControlType.CARRIAGE_RETURN, *(step * extra))))
            self._drawn = [min(one, columns) for one in self._drawn]

    # --- what goes above the table -----------------------------------------------------

    def _take_news(self, now: float) -> None:
        progress = self._progress
        lines = [f"note: {note}" for note in progress.notes]
        if self._news is not None:
            lines += self._news.lines(now)
        else:
            failures = [ending for ending in progress.endings if ending.row.status == "ERROR"]
            lines += [ended(progress, ending, progress.n_ended) for ending in failures[:5]]
            if len(failures) > 5:
                lines.append(f"... {len(failures) - 5} more trials failed")
        self._put_above("".join(line + "\n" for line in lines))

    def _put_above(self, text: str) -> None:
        if text:
            self._above.append(text)
            self._n_above += len(text)

    def _print_above(self) -> None:
        text, self._above, self._n_above = "".join(self._above), [], 0
        if self._live is None or self._screen is None:
            self._out.write(text)
        else:
            self._make_up_for_wrapping(self._screen, self._screen.size.width)
            self._screen.print(_Raw(text), soft_wrap=True)

    def _has_colours(self) -> bool:
        return (
            self._screen is not None and self._screen.color_system is not None and not self._screen.no_color
        )

    def _rate(self, now: float) -> float | None:
        """Results a second over the last ten."""
        self._speed.append((now, self._progress.n_results))
        while len(self._speed) > 2 and now - self._speed[0][0] > _RATE_WINDOW_S:
            self._speed.popleft()
        then, before = self._speed[0]
        return (self._progress.n_results - before) / (now - then) if now - then >= 1.0 else None


class _Raw:
    """Text that rich neither wraps nor reads; trials may print a lot of it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.segment import Segment

        yield Segment(self._text)


class _Picture:
    """Lines as rich draws them; it may be changed between two frames."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.text import Text

        for line in self.lines:
            yield Text.assemble(*line, no_wrap=True, overflow="crop")
