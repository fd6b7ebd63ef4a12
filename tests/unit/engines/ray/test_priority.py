"""Runs of lower priority make room for what those of higher priority wait for."""

from __future__ import annotations

from overtone.core.resources import Resources
from overtone.engines.ray.priority import MOST_OF_A_SHAPE, SILENT_S, Board, Words, within, yielded

CPU = Resources.of({"cpu": 1})
GPU = Resources.of({"cpu": 1, "gpu": 1})


class Kept(Words):
    """Texts in memory."""

    def __init__(self) -> None:
        self.texts: dict[bytes, bytes] = {}

    def put(self, key: bytes, text: bytes) -> None:
        self.texts[key] = text

    def get(self, prefix: bytes) -> dict[bytes, bytes]:
        return {key: text for key, text in self.texts.items() if key.startswith(prefix)}

    def delete(self, key: bytes) -> None:
        self.texts.pop(key, None)


def test_a_run_hears_of_those_that_come_before_it() -> None:
    words = Kept()
    low, high, higher = (Board(n, f"run{n}", words, lambda: 0.0) for n in (0, 1, 2))
    low.mine, high.mine, higher.mine = [(CPU, 9)], [(CPU, 2)], [(GPU, 3)]
    for one in (low, high, higher, low, high):
        one.exchange()
    assert low.ahead == [(GPU, 3), (CPU, 2)]
    assert high.ahead == [(GPU, 3)]
    assert higher.ahead == []


def test_who_waits_for_nothing_or_has_ended_stands_in_nobodys_way() -> None:
    words = Kept()
    low, high = Board(0, "low", words), Board(1, "high", words)
    high.mine = [(CPU, 1)]
    high.exchange()
    low.exchange()
    assert low.ahead
    high.mine = []
    high.exchange()
    low.exchange()
    assert low.ahead == []
    high.mine = [(CPU, 1)]
    high.exchange()
    high.close()
    assert words.texts == {}


def test_a_run_that_was_killed_is_forgotten() -> None:
    words, now = Kept(), [0.0]
    low, high = (Board(n, f"run{n}", words, lambda: now[0]) for n in (0, 1))
    high.mine = [(CPU, 1)]
    high.exchange()
    low.exchange()
    now[0] = SILENT_S - 0.5
    high.exchange()  # it is there: the same words, said again
    low.exchange()
    now[0] = SILENT_S + 0.5
    low.exchange()
    assert low.ahead == [(CPU, 1)]
    now[0] = 2 * SILENT_S
    low.exchange()
    assert low.ahead == []
    assert words.texts == {}


def test_what_cannot_be_read_is_passed_over() -> None:
    words = Kept()
    words.put(b"overtone-waits-x", b"{]")
    words.put(b"overtone-waits-y", b'{"priority": 9, "wanted": [[{"cpu": -1}, "PACK", 1]]}')
    low = Board(0, "low", words)
    low.exchange()
    assert low.ahead == []


def test_what_nobody_holds_is_left_to_others_first() -> None:
    left = {"a": {"cpu": 4.0}, "b": {"cpu": 4.0}}
    assert yielded(left, {"a": {"cpu": 4.0}}, [(CPU, 2)]) == {"a": {"cpu": 4.0}, "b": {"cpu": 2.0}}
    assert yielded(left, {"a": {"cpu": 4.0}}, [(CPU, 6)]) == {"a": {"cpu": 2.0}, "b": {"cpu": 0.0}}


def test_what_can_never_be_placed_keeps_nothing() -> None:
    left = {"a": {"cpu": 4.0}}
    assert yielded(left, {}, [(GPU, 5), (Resources.of({"cpu": 3}), 2)]) == {"a": {"cpu": 1.0}}


def test_gpus_are_left_whole() -> None:
    left = {"a": {"cpu": 4.0, "gpu": 2.0}}
    assert yielded(left, {"a": {"cpu": 2.0, "gpu": 2.0}}, [(GPU, 1)]) == {"a": {"cpu": 3.0, "gpu": 1.0}}


def test_a_run_waits_for_no_more_than_it_may_hold() -> None:
    assert within({GPU: 9}, {"gpu": 4.0}, {"gpu": 1.0}) == [(GPU, 3)]
    assert within({GPU: 9}, {"gpu": 4.0}, {"gpu": 4.0}) == []
    assert within({CPU: 1000}, {"gpu": 4.0}, {}) == [(CPU, MOST_OF_A_SHAPE)]
