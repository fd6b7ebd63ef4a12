"""Which of several failures is named."""

from __future__ import annotations

import pickle

import pytest

from overtone.worker.gang.failures import Failure, gang_error

BROKEN = Failure(0, "raised RuntimeError: Connection closed by peer [127.0.0.1]:1", "trace", "trace")
KILLED = Failure(1, "ended: killed by signal 9", is_death=True)
WRONG = Failure(2, "raised ValueError: bad", "its trace", "its trace", pickle.dumps(ValueError("bad")))


@pytest.mark.parametrize("failures", [[KILLED, WRONG], [WRONG, KILLED]])
def test_a_death_is_the_cause(failures: list[Failure]) -> None:
    error = gang_error(failures, 3)
    assert str(error) == "rank 1 of 3 ended: killed by signal 9"
    assert (error.rank, error.traceback, error.__cause__) == (1, "", None)


def test_a_broken_collective_is_a_consequence() -> None:
    error = gang_error([BROKEN, WRONG, Failure(1, "raised", "trace", "trace")], 4)
    assert str(error).startswith(
        "rank 2 of 4 raised ValueError: bad (then ranks 0, 1 failed, too)\nits trace"
    )
    assert isinstance(error.__cause__, ValueError)
    assert gang_error([BROKEN], 4).rank == 0


def test_a_raise_comes_before_a_rank_that_is_missed() -> None:
    assert gang_error([Failure(1, "has returned while rank 0 waits"), BROKEN, WRONG], 3).rank == 2
    assert gang_error([BROKEN, Failure(1, "has returned while rank 0 waits")], 3).rank == 1


def test_an_exception_that_cannot_be_read_is_left_out() -> None:
    error = gang_error([Failure(0, "raised Odd", "trace", "trace", b"no pickle")], 1)
    assert error.__cause__ is None
