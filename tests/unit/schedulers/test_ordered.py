"""Many keys in order, in lists of limited length."""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort

import pytest

from overtone.schedulers import ordered
from overtone.schedulers.ordered import Ordered


def test_it_is_as_one_sorted_list_however_often_its_lists_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "MOST", 4)
    rng, keys, plain = random.Random(1), Ordered(), []
    for _ in range(300):
        key = rng.randrange(40) / 4
        insort(plain, key)
        assert keys.add(key) == bisect_left(plain, key)
    assert [keys[place] for place in range(len(keys))] == plain
    assert [keys.place_after(key) for key in plain] == [bisect_right(plain, key) for key in plain]


def test_there_is_no_key_beyond_the_last() -> None:
    with pytest.raises(IndexError):
        Ordered()[0]
