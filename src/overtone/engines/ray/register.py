"""The register of the runs on a cluster: an actor that keeps the text of each run for the others.

The first run makes the actor on its node; the others find it by name. The actor ends with the
driver that made it. The next run that calls makes another actor, and all runs send their texts
again. So no state outlives the runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from overtone.engines.ray import cluster_connection

NAME = "overtone-runs-1"
NAMESPACE = "overtone"

BEAT_S = 0.5
"""Interval at which a run reports that it is alive."""

SILENT_S = 3.0
"""Seconds without a report after which a run counts as gone, or its driver as stopped."""

PAUSE_S = 0.02
"""Minimum time between two calls of the register."""


class Runs:
    """The texts of the runs, by run name. Ray runs this class in a separate process, as an asyncio actor."""

    def __init__(self) -> None:
        import asyncio

        self._texts: dict[str, str] = {}
        self._heard_at: dict[str, float] = {}
        self._version = 0
        self._news = asyncio.Event()

    async def say(self, run: str, text: str) -> None:
        """Store the current text of a run."""
        self._heard_at[run] = time.monotonic()
        if self._texts.get(run) != text:
            self._texts[run] = text
            self._tell()

    async def listen(self, run: str, text: str, version: int) -> tuple[int, dict[str, str]]:
        """Store a run's text, and return the others' texts when they change, or after BEAT_S.

        Args:
            run: Name of the run.
            text: Text of the run.
            version: The version that the last call returned; 0 for the first call.

        Returns:
            The version of the texts, and the text of each other run.
        """
        import asyncio

        await self.say(run, text)
        if self._version == version:
            news = self._news
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(news.wait(), BEAT_S)
        silent_since = time.monotonic() - SILENT_S
        for other in [one for one, at in self._heard_at.items() if at < silent_since]:
            del self._heard_at[other], self._texts[other]
            self._tell()
        return self._version, {other: said for other, said in self._texts.items() if other != run}

    def _tell(self) -> None:
        import asyncio

        self._version += 1
        self._news.set()
        self._news = asyncio.Event()


class Register:
    """One run's connection to the register; a separate thread calls Ray.

    Args:
        run: Name of the run.
        wake: Called from the thread when the result of `heard` has changed.
    """

    def __init__(self, run: str, wake: Callable[[], None]) -> None:
        self._run, self._wake = run, wake
        self._text = self._said = ""
        self._others: dict[str, str] = {}
        self._signal, self._has_answer, self._is_over = threading.Event(), threading.Event(), False
        self._thread = threading.Thread(target=self._serve, name="overtone-register", daemon=True)

    def start(self, text: str) -> None:
        """Start the thread, which publishes the text and listens to the other runs."""
        self._text = text
        self._thread.start()

    def join(self, within_s: float) -> bool:
        """Wait until the register has answered; return whether it has."""
        return self._has_answer.wait(within_s)

    def say(self, text: str) -> None:
        """Publish this text to the other runs from now on."""
        if text != self._text:
            self._text = text
            self._signal.set()

    def heard(self) -> Mapping[str, str]:
        """Return the text of each other run, by run name."""
        return self._others

    def stop(self, last: str, patience_s: float) -> None:
        """Publish a last text, and stop; the register forgets it after SILENT_S."""
        self._text, self._is_over = last, True
        self._signal.set()
        if self._thread.is_alive():
            self._thread.join(patience_s)

    # --- the thread's side ----------------------------------------------------------------

    def _serve(self) -> None:
        heard_at = time.monotonic()
        while not self._is_over and cluster_connection.is_connected():
            try:
                self._converse(_register())
            except Exception:  # the actor's driver has ended, or the head is restarting
                _forget()
                if time.monotonic() - heard_at > SILENT_S:
                    self._hear({})
                self._signal.wait(PAUSE_S * 5)
            else:
                heard_at = time.monotonic()

    def _converse(self, actor: Any) -> None:
        """Exchange texts with the register until the actor is gone or this run is over."""
        version, listening = 0, None
        while not self._is_over and cluster_connection.is_connected():
            if listening is None:
                self._said = self._text
                listening = actor.listen.remote(self._run, self._said, version)
                listening.future().add_done_callback(lambda _: self._signal.set())
            self._signal.wait()
            self._signal.clear()
            if _is_done(listening):
                version, others = _result(listening)
                listening = None
                self._hear(others)
            elif self._text != self._said:
                self._said = self._text
                actor.say.remote(self._run, self._said)
            time.sleep(PAUSE_S)
        if cluster_connection.is_connected():
            _result(actor.say.remote(self._run, self._text), 1.0)

    def _hear(self, others: dict[str, str]) -> None:
        is_new, self._others = others != self._others, others
        self._has_answer.set()
        if is_new:
            self._wake()


_registers: dict[str, Any] = {}
"""Handles by job; a handle keeps the actor that this process made alive."""


def _register() -> Any:
    """Return the register's actor; make it if there is none."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    job = cluster_connection.job_id()
    found = _registers.get(job)
    if found is None:
        home, _ = cluster_connection.driver_node()
        found = (
            ray.remote(Runs)
            .options(
                name=NAME,
                namespace=NAMESPACE,
                get_if_exists=True,
                num_cpus=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(home, soft=True),
            )
            .remote()
        )
        _registers[job] = found
    return found


def _forget() -> None:
    _registers.pop(cluster_connection.job_id(), None)


def _is_done(reference: Any) -> bool:
    import ray

    return bool(ray.wait([reference], timeout=0)[0])


def _result(reference: Any, within_s: float | None = None) -> Any:
    import ray

    return ray.get(reference, timeout=within_s)
