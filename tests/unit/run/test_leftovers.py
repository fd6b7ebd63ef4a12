"""Checkpoints that no record names: whose are taken in."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from overtone.core.trial import Status
from overtone.core.types import Checkpoint
from overtone.run.leftovers import is_wanted
from overtone.store.leftovers import Leftover
from overtone.worker.saving import config_digest

CONFIG = {"x": 0.5, "layers": (1, 2)}


def trial(status=Status.RUNNING, attempt=1, t=10):
    checkpoint = Checkpoint("a", t, "x", 1) if t else None
    return SimpleNamespace(status=status, attempt=attempt, checkpoint=checkpoint, config=CONFIG)


def leftover(fence=1, is_whole=True, is_damaged=False, **facts):
    state = {"t": 11, "attempt": 1, "trial": "a", "config": config_digest(CONFIG), **facts}
    return Leftover("a/checkpoint_000011", "uri", 1, is_whole, is_damaged, state, fence)


def test_a_newer_one_of_the_same_history_is_taken_in():
    assert is_wanted(leftover(), {"a": trial()}, 1)
    assert is_wanted(leftover(), {"a": trial(Status.PENDING, t=0)}, 0)
    assert is_wanted(leftover(attempt=3, fence=2), {"a": trial(Status.PAUSED)}, 1)  # of a driver that told nothing


@pytest.mark.parametrize(
    ("found", "known", "fence"),
    [
        (leftover(), trial(Status.TERMINATED), 1),
        (leftover(), trial(Status.ERROR), 1),
        (leftover(), trial(t=11), 1),  # it is not newer
        (leftover(), trial(attempt=2), 1),  # its attempt has ended, and the trial may have begun anew
        (leftover(fence=1), trial(), 2),  # of a driver that had lost its lease
        (leftover(config=config_digest({"x": 0.6})), trial(), 1),  # of a restart that is in no record
        (leftover(is_whole=False), trial(), 1),
        (leftover(is_damaged=True), trial(), 1),
        (leftover(t=None), trial(), 1),
        (leftover(t="11"), trial(), 1),
        (leftover(attempt=None), trial(), 1),
    ],
)
def test_any_other_is_not(found, known, fence):
    assert not is_wanted(found, {"a": known}, fence)
    assert not is_wanted(found, {}, fence)


def test_a_digest_is_the_same_before_and_after_a_journal():
    np = pytest.importorskip("numpy")

    def act():
        """A value that is not data."""

    before = {"x": np.float64(0.5), "n": np.int64(3), "layers": (1, 2), "act": act, "array": np.array([1, 2])}
    after = {"layers": [1, 2], "n": 3, "x": 0.5, "act": act, "array": [1, 2]}
    assert config_digest(before) == config_digest(after)
    assert config_digest(before) != config_digest({**after, "n": 4})
