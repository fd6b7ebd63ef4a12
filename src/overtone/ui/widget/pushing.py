"""The thread that keeps a notebook's widget up to date."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from overtone.ui.widget.live_state import LiveState

if TYPE_CHECKING:
    from overtone.ui.data.experiment import Experiment

LEAST_S = 0.25
"""Seconds between two updates, at least."""

_HEARTBEAT_S = 2.0
"""Seconds after which the overview is sent in any case, so that the page knows that the kernel lives."""


class Pushing:
    """Sends the state of an experiment as it changes, until its run is over.

    The thread of a cell may block the kernel, which then answers no messages; this one sends all the same.

    Args:
        experiment: Is read; closed at the end.
        send: Is called with the state, in the thread.
        at_end: Is called once the run is over, in the thread.
        is_started: Whether a run goes on though there is no journal yet.
    """

    def __init__(
        self,
        experiment: Experiment,
        send: Callable[[LiveState], None],
        at_end: Callable[[], None],
        is_running: Callable[[], bool] = lambda: False,
    ) -> None:
        self._experiment = experiment
        self._send, self._at_end, self._is_running = send, at_end, is_running
        self._is_wanted = True
        self._wake = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="overtone-widget", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout_s: float = 5.0) -> None:
        """End the thread."""
        with self._wake:
            self._is_wanted = False
            self._wake.notify_all()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until the run is over and its last state was sent."""
        self._thread.join(timeout_s)

    @property
    def is_alive(self) -> bool:
        """Whether updates still come."""
        return self._thread.is_alive()

    def _run(self) -> None:
        state = LiveState(self._experiment)
        try:
            n = -1
            while self._is_wanted:
                was_running = self._is_running()
                state.refresh()
                self._send(state)
                if state.is_over and not was_running:
                    break
                self._pause()
                n = self._experiment.wait(n, _HEARTBEAT_S)
            else:
                return
            self._at_end()
        finally:
            self._experiment.close()

    def _pause(self) -> None:
        with self._wake:
            self._wake.wait_for(lambda: not self._is_wanted, LEAST_S)
