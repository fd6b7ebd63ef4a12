"""How often the collector of garbage looks."""

from __future__ import annotations

import gc

import pytest

from overtone.journal.garbage import seldom_collecting


@pytest.fixture
def own_threshold():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_the_last_of_several_runs_restores_what_was_before(own_threshold) -> None:
    gc.set_threshold(700, 10, 10)
    first, second = seldom_collecting(), seldom_collecting()
    first.__enter__()
    second.__enter__()
    assert gc.get_threshold()[0] > 700
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] > 700
    second.__exit__(None, None, None)
    assert gc.get_threshold() == (700, 10, 10)


def test_a_collector_that_is_switched_off_stays_so(own_threshold) -> None:
    gc.set_threshold(0, 10, 10)
    with seldom_collecting():
        assert gc.get_threshold() == (0, 10, 10)
    assert gc.get_threshold() == (0, 10, 10)
