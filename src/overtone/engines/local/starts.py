"""Starts that wait for room, and the attempts that begin with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from overtone.core.messages import Cause, Halt, Start
from overtone.engines.local.exits import unsendable
from overtone.engines.local.gangs import most_processes_of
from overtone.engines.local.process import LocalAttempt, Shape, TrialProcess
from overtone.engines.local.process_pool import ProcessPool

End = Callable[[Start, Cause, str, str, bool], None]
"""Called with a Start that comes to nothing: cause, error, traceback, and whether a retry is hopeless."""


class Starts:
    """Begins attempts in the order of their Starts.

    Args:
        crew: Makes the processes.
        shape: Returns the setup of the process for a Start.
        running: The attempts by trial; those that begin are added.
        end: Called with Starts that come to nothing.
        makes_spares: Whether processes are made ahead.
    """

    def __init__(
        self,
        crew: ProcessPool,
        shape: Callable[[Start], Shape],
        running: dict[str, LocalAttempt],
        end: End,
        makes_spares: bool,
    ) -> None:
        self._crew, self._shape, self._running = crew, shape, running
        self._end, self._makes_spares = end, makes_spares
        self._queue: deque[Start] = deque()

    def put(self, start: Start) -> None:
        """Begin an attempt, now or when there is room."""
        self._queue.append(start)
        self.begin()

    def put_first(self, start: Start) -> None:
        """Let an attempt that never ran begin next."""
        self._queue.appendleft(start)

    def halt(self, order: Halt) -> None:
        """End an attempt that has not begun."""
        for start in self._queue:
            if (start.trial_id, start.attempt) == (order.trial_id, order.attempt):
                self._queue.remove(start)
                self._end(start, "halted", "", "", False)
                return

    def begin(self) -> None:
        """Begin the attempts for which there is room."""
        crew, queue = self._crew, self._queue
        while queue:
            start = queue[0]
            if crew.broken is not None:
                self._end(start, "raised", *crew.broken, True)
            else:
                shape, most = self._shape(start), most_processes_of(start)
                try:
                    process = crew.take(shape, most)
                except OSError as error:
                    self._end(start, "killed", f"could not be started: {error}", "", False)
                else:
                    if process is None:
                        return
                    self._hand_over(start, shape, most, process)
            queue.popleft()
        if self._makes_spares:
            crew.make_spares()

    def _hand_over(self, start: Start, shape: Shape, most: int, process: TrialProcess) -> None:
        try:
            self._crew.send(process, start)
        except Exception as error:
            self._crew.put_back(process)
            self._end(start, "raised", unsendable(error), "", True)
            return
        attempt = LocalAttempt(start, process)
        process.attempt, process.shape = attempt, shape
        self._running[start.trial_id] = attempt
        if most > 1:
            self._crew.room.keep(attempt, most)
        self._crew.watch(attempt)
