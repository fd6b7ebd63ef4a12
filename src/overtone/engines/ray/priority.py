"""Runs on one cluster tell each other what they wait for; those of lower priority make room.

Ray gives resources in the order in which they were asked for, whoever asks. So each run says
what it waits for in the key-value store of the cluster's head, and reads what others say there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from overtone.core.fit import UNIT, Node, fit, parts
from overtone.core.resources import Resources

Wanted = Sequence[tuple[Resources, int]]
"""How many trials of each shape wait."""

SILENT_S = 5.0
"""A run that has said nothing new for so long is gone."""

MOST_SHAPES = 16
MOST_OF_A_SHAPE = 64

_PREFIX = b"overtone-waits-"


class Words(Protocol):
    """Texts by key, for all drivers of a cluster."""

    def put(self, key: bytes, text: bytes) -> None:
        """Keep a text."""

    def get(self, prefix: bytes) -> dict[bytes, bytes]:
        """The texts whose key begins so."""

    def delete(self, key: bytes) -> None:
        """Keep it no longer."""


class OnHead(Words):
    """Texts that the head of the cluster keeps; Ray has no public name for it."""

    def put(self, key: bytes, text: bytes) -> None:
        from ray.experimental import internal_kv

        internal_kv._internal_kv_put(key, text, True, namespace=b"overtone")

    def get(self, prefix: bytes) -> dict[bytes, bytes]:
        from ray.experimental import internal_kv

        keys = internal_kv._internal_kv_list(prefix, namespace=b"overtone")
        found = {key: internal_kv._internal_kv_get(key, namespace=b"overtone") for key in keys}
        return {key: text for key, text in found.items() if text is not None}

    def delete(self, key: bytes) -> None:
        from ray.experimental import internal_kv

        internal_kv._internal_kv_del(key, namespace=b"overtone")


class Board:
    """Where a run says what it waits for, and reads what others do; used by one thread.

    Args:
        priority: The run's; higher ones come first.
        run: Its name, unlike any other's.
        words: Kept for all.
        clock: Seconds.

    Attributes:
        mine: What this run waits for; another thread may set it.
        ahead: What runs of higher priority wait for, highest first, as of the last `exchange`.
    """

    def __init__(
        self, priority: float, run: str, words: Words, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.mine: Wanted = ()
        self.ahead: Wanted = ()
        self._priority, self._words, self._clock = priority, words, clock
        self._key = _PREFIX + run.encode()
        self._beat = 0
        self._is_told = False
        self._heard: dict[bytes, tuple[bytes, float]] = {}

    def exchange(self) -> None:
        """Tell, and read."""
        mine = self.mine
        if mine:
            self._beat += 1
            self._words.put(self._key, _text(self._priority, self._beat, mine))
            self._is_told = True
        else:
            self._withdraw()
        now, found = self._clock(), self._words.get(_PREFIX)
        self._heard = {
            key: (text, self._heard[key][1] if key in self._heard and self._heard[key][0] == text else now)
            for key, text in found.items()
            if key != self._key
        }
        waiting: list[tuple[float, bytes, Wanted]] = []
        for key, (text, since) in self._heard.items():
            priority, wanted = _read(text)
            if now - since >= SILENT_S:
                self._words.delete(key)
            elif priority > self._priority:
                waiting.append((-priority, key, wanted))
        self.ahead = [one for *_, wanted in sorted(waiting, key=lambda one: one[:2]) for one in wanted]

    def close(self) -> None:
        """Wait for nothing more."""
        with suppress(Exception):  # the cluster may be gone
            self._withdraw()

    def _withdraw(self) -> None:
        if self._is_told:
            self._words.delete(self._key)
            self._is_told = False


def yielded(
    left: Mapping[str, Mapping[str, float]], ours: Mapping[str, Mapping[str, float]], ahead: Wanted
) -> dict[str, dict[str, float]]:
    """What this run may use of each node once what others wait for is kept for them.

    Args:
        left: What it might use.
        ours: What of that it holds. What it does not hold is kept for others first.
    """
    all_of_it = {name: _node(name, amounts) for name, amounts in left.items()}
    unused = {
        name: _node(
            name, {what: max(0.0, n - ours.get(name, {}).get(what, 0.0)) for what, n in amounts.items()}
        )
        for name, amounts in left.items()
    }
    for shape, count in ahead:
        for _ in range(count):
            placement = fit(shape, list(unused.values())) or fit(shape, list(all_of_it.values()))
            if placement is None:
                break
            for name, demand, gpus in parts(shape, placement):
                all_of_it[name].take(demand, gpus)
                unused[name].take(demand, gpus)
    return {
        name: {what: max(0, all_of_it[name].free[what]) / UNIT for what in amounts}
        for name, amounts in left.items()
    }


def within(wanted: Mapping[Resources, int], most: Mapping[str, float], held: Mapping[str, float]) -> Wanted:
    """What of `wanted` a run would use that may hold no more than `most`, and holds `held`."""
    room = {name: amount - held.get(name, 0.0) for name, amount in most.items()}
    found = []
    for shape, count in list(wanted.items())[:MOST_SHAPES]:
        needs = {name: amount for name, amount in shape.total().items() if name in room}
        many = min(
            [count, MOST_OF_A_SHAPE, *(int(room[name] / amount + 1e-9) for name, amount in needs.items())]
        )
        for name, amount in needs.items():
            room[name] -= amount * many
        if many > 0:
            found.append((shape, many))
    return found


def _node(name: str, amounts: Mapping[str, float]) -> Node:
    free = {what: round(amount * UNIT) for what, amount in amounts.items()}
    gpus = free.get("gpu", 0)
    parts_of_one = [gpus % UNIT] if gpus % UNIT else []
    return Node(name, free, [UNIT] * (gpus // UNIT) + parts_of_one)


def _text(priority: float, beat: int, wanted: Wanted) -> bytes:
    shapes = [[list(map(dict, shape.bundles)), shape.strategy, count] for shape, count in wanted]
    return json.dumps({"priority": priority, "beat": beat, "wanted": shapes}).encode()


def _read(text: bytes) -> tuple[float, Wanted]:
    """(priority, what is waited for); nothing where it is of another version."""
    try:
        found: dict[str, Any] = json.loads(text)
        wanted = [
            (Resources.of(bundles, strategy), min(int(count), MOST_OF_A_SHAPE))
            for bundles, strategy, count in found["wanted"][:MOST_SHAPES]
        ]
        return float(found["priority"]), wanted
    except (ValueError, KeyError, TypeError):
        return float("-inf"), ()
