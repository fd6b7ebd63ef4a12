"""A store that is tried again, with growing pauses, when it fails in a way that may pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from overtone import standard_streams
from overtone.core.protocols import Store
from overtone.errors import StorageError
from overtone.store.failures import is_passing

PATIENCE_S = 300.0
"""How long a store may be away before somebody gives up."""

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
    """What `action` returns, however often it has to be called for that.

    Pauses are drawn between 0 and a bound that doubles ("full jitter"), so that many who
    lost the same store do not come back all at once.

    Args:
        patience_s: Seconds from the first call after which no other is made.
        draw: Gives a number in [0, 1).
        say: Gets one line when the first call failed, and one when a later one did not.

    Raises:
        StorageError: It failed for that long.
        Exception: What will not pass, at once.
    """
    began, has_failed, waiting = clock(), False, pauses(draw)
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
    """`store`, where each call is tried again as long as `patience_s` allows. As picklable as that is.

    Args:
        clock, sleep: Seconds; those of the machine where not given.
        say: See `persist`; by default a line on stderr.
    """

    def __init__(
        self,
        store: Store,
        patience_s: float = PATIENCE_S,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.store = store
        self.patience_s = patience_s
        self._clock, self._sleep, self._say = clock, sleep, say or standard_streams.say

    def put(self, source: Path, key: str, move: bool = False) -> str:
        return self._persist(lambda: self.store.put(source, key, move))

    def get(self, uri: str) -> Path:
        return self._persist(lambda: self.store.get(uri))

    def delete(self, uri: str) -> None:
        self._persist(lambda: self.store.delete(uri))

    def list(self, prefix: str = "") -> list[str]:
        return self._persist(lambda: self.store.list(prefix))

    def _persist(self, action: Callable[[], T]) -> T:
        return persist(action, self.patience_s, clock=self._clock, sleep=self._sleep, say=self._say)


def pauses(draw: Callable[[], float] | None = None) -> Iterator[float]:
    """How long to wait before each next call, in seconds, without end."""
    from random import SystemRandom

    draw = draw or SystemRandom().random  # the generator that users seed is left alone
    bound_s = _FIRST_PAUSE_S
    while True:
        yield draw() * bound_s
        bound_s = min(_LONGEST_PAUSE_S, bound_s * 2)
