"""The current session."""

from __future__ import annotations

from pathlib import Path

import pytest

from overtone.core.job import Job
from overtone.errors import TrainableError
from overtone.testing.fake_channel import FakeChannel, start
from overtone.worker.session.current import activated, current, is_inside
from overtone.worker.session.session import Session


def session() -> Session:
    return Session(FakeChannel(), Job(None, "train", Path("exp")), start())


def test_outside_of_a_trial_the_error_says_what_to_do() -> None:
    assert not is_inside()
    with pytest.raises(TrainableError, match=r"inside a trainable that tune.run\(trainable"):
        current()


def test_sessions_nest_and_end_with_their_block() -> None:
    outer, inner = session(), session()
    with activated(outer):
        with activated(inner):
            assert current() is inner
        with pytest.raises(KeyError), activated(inner):
            raise KeyError
        assert current() is outer
    assert not is_inside()
