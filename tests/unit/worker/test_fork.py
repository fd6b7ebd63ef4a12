from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from overtone.worker import gpus, threads
from overtone.worker.server import fork


@pytest.mark.parametrize(
    ("cuda", "lost", "note"),
    [
        (False, "", ""),
        (True, "", "importing its modules initialises CUDA, which does not work in a fork"),
        (
            False,
            "2 native thread(s) run there",
            "importing its modules starts threads, which a fork would lose (2 native thread(s) run there)",
        ),
    ],
)
def test_what_makes_a_fork_unsafe_is_said(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, lost: str, note: str
) -> None:
    monkeypatch.setattr(gpus, "is_cuda_initialised", lambda: cuda)
    monkeypatch.setattr(threads, "lost_in_a_fork", lambda: lost)
    assert fork.unsafe_to_fork() == note


@pytest.fixture
def seeds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What numpy's global generator, just imported here, is seeded with."""
    given: list[int] = []
    module = importlib.import_module("numpy.random.mtrand")
    monkeypatch.setattr(module, "_rand", np.random.RandomState())
    monkeypatch.setattr(module, "seed", given.append)
    return given


def test_numpy_is_seeded_anew(seeds: list[int]) -> None:
    fork._reseed_numpy()
    fork._reseed_numpy()
    assert len(set(seeds)) == 2
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_a_seed_of_the_users_stays(seeds: list[int]) -> None:
    sys.modules["numpy.random.mtrand"]._rand.seed(7)
    fork._reseed_numpy()
    assert seeds == []
