"""A store with retries, after growing pauses, for failures that may pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from overtone import standard_streams
from overtone.core.store import Store
from overtone.errors import StorageError
from overtone.store.backoff import pauses
from overtone.store.failures import is_passing

PATIENCE_S = 300.0
"""Longest time of retries while a store is unavailable, in seconds."""

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 20.0

T = TypeVar("T")


def persist(
    action: Callable[[], T],
    patience_s: float = PATIENCE_S,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    draw: Callable[[], float] | None = None,
    say: Callable[[str], None] | None = None,
) -> T:
    """Call `action` until it succeeds, and return its result.

    Pauses are random between 0 and a bound that doubles.

    Args:
        patience_s: Seconds from the first call after which there is no further retry.
        draw: Returns a random number in [0, 1).
        say: Called with one line after the first failure, and one after a later success.

    Raises:
        StorageError: The action failed for that long.
        Exception: The action failed with a lasting error; raised at once.
    """
    began, has_failed, waiting = clock(), False, jittered(draw)
    while True:
        try:
            found = action()
        except Exception as error:
            if not is_passing(error):
                raise
            waited_s = clock() - began
            if waited_s >= patience_s:
                raise StorageError(f"{error} (tried again for {waited_s:.0f} s)") from error
            if say is not None and not has_failed:
                say(f"{error} (trying again)")
            has_failed = True
            sleep(min(next(waiting), patience_s - waited_s))
        else:
            if say is not None and has_failed:
                say("the store answers again")
            return found


class Retrying(Store):
    """A store that retries each call of `store` for up to `patience_s`. Picklable if `store` is.

    Args:
        clock: Returns the time in seconds; by default the machine's.
        sleep: Waits for a time in seconds; by default the machine's.
        say: See `persist`; by default prints a line on stderr.
    """

    def __init__(
        self,
        store: Store,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.store, self.is_remote = store, store.is_remote
        self.patience_s = patience_s
        self._clock, self._sleep, self._say = clock, sleep, say or standard_streams.say

    def put(self, source: Path, key: str, move: bool = False) -> str:
        return self._persist(lambda: self.store.put(source, key, move))

    def get(self, uri: str) -> Path:
        return self._persist(lambda: self.store.get(uri))

    def delete(self, uri: str) -> None:
        self._persist(lambda: self.store.delete(uri))

    def add_files(self, files: Mapping[str, Path]) -> None:
        self._persist(lambda: self.store.add_files(files))

    def list(self, prefix: str = "") -> list[str]:
        return self._persist(lambda: self.store.list(prefix))

    def _persist(self, action: Callable[[], T]) -> T:
        return persist(action, self.patience_s, clock=self._clock, sleep=self._sleep, say=self._say)


def jittered(draw: Callable[[], float] | None = None) -> Iterator[float]:
    """Yield random pauses between two calls of a store, in seconds, without end."""
    from random import SystemRandom

    return pauses(_FIRST_PAUSE_S, _LONGEST_PAUSE_S, draw or SystemRandom().random)  # not the users' generator
