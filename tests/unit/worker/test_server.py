from __future__ import annotations

import numpy as np
import pytest

from overtone.worker import gpus, server, threads
from overtone.worker.requests import KILL, REQUEST


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
    assert server.unsafe_to_fork() == note


def test_numpy_is_seeded_anew_unless_the_user_seeded_it() -> None:
    before = np.random.get_state()
    try:
        np.random.seed(7)
        expected = np.random.RandomState(7).rand()
        server._reseed_numpy()
        assert np.random.rand() == expected

        fresh = np.random.RandomState()
        module = server.sys.modules["numpy.random.mtrand"]
        state = fresh.get_state(legacy=True)
        old, module._rand = module._rand, fresh
        seeded: list[int] = []
        seed, module.seed = module.seed, seeded.append
        try:
            server._reseed_numpy()
        finally:
            module._rand, module.seed = old, seed
        assert len(seeded) == 1
        assert 0 <= seeded[0] < 2**32
        assert state[0] == "MT19937"
    finally:
        np.random.set_state(before)


def test_requests_have_one_size() -> None:
    assert REQUEST.unpack(REQUEST.pack(KILL, 70_000)) == (KILL, 70_000)
