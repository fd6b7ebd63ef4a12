from __future__ import annotations

from itertools import islice

from overtone.store.backoff import pauses


def test_pauses_double_up_to_the_longest():
    assert list(islice(pauses(0.5, 3.0), 5)) == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_a_random_number_shortens_each_pause():
    draws = iter([0.5, 0.0, 1.0])
    assert list(islice(pauses(1.0, 8.0, lambda: next(draws)), 3)) == [0.5, 0.0, 4.0]
