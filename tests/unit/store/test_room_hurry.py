"""Whoever waits for room gives up soon once an end was asked for."""

from __future__ import annotations

import errno

import pytest

from overtone.core.messages import Record, Tick
from overtone.errors import StorageError
from overtone.run.loop import Loop
from overtone.store import room


@pytest.fixture
def time(monkeypatch):
    """A clock that only sleeping moves."""

    class Time:
        now = 100.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

    time = Time()
    monkeypatch.setattr(room, "time", time)
    monkeypatch.setattr("overtone.run.loop.time", time)
    yield time
    room.unhurry()


def full():
    raise OSError(errno.ENOSPC, "No space left on device")


def wait(time, hurries_at=float("inf")):
    began = time.now

    def sleep(seconds):
        if time.now <= hurries_at < time.now + seconds:
            room.hurry()
        time.sleep(seconds)

    with pytest.raises(OSError, match="No space"):
        room.try_for_room(full, clock=time.monotonic, sleep=sleep)
    return time.now - began


def test_a_wait_ends_soon_after_a_hurry_and_later_ones_do_not_begin(time):
    assert wait(time, hurries_at=110.0) < 10.0 + room.HURRIED_S + 1.0
    assert wait(time) == 0.0
    room.unhurry()
    assert wait(time) >= room.PATIENCE_S


def test_what_finds_room_is_written_all_the_same(time):
    room.hurry()
    time.now += 100.0
    assert room.try_for_room(lambda: 7) == 7


def test_the_journal_gives_up_and_says_what_is_not_written(time):
    said = []
    loop = Loop.__new__(Loop)
    loop._warn = said.append

    def append(records):
        raise StorageError("the journal cannot be written")

    loop._append = append
    room.hurry()
    with pytest.raises(StorageError):
        loop._write([Record(2, Tick(0.0)), Record(3, Tick(0.0))])
    assert time.now - 100.0 < room.HURRIED_S + 1.0
    assert said[-1] == "2 records could not be written before the end: a resume does that work again"
