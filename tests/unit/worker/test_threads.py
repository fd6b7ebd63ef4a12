from __future__ import annotations

import os
import sys
import threading
from types import SimpleNamespace

import pytest

from overtone.worker import threads


def test_variables_that_the_user_left_unset() -> None:
    assert threads.unset_variables({}) == threads.VARIABLES
    left = threads.unset_variables({"MKL_NUM_THREADS": "4"})
    assert left == tuple(name for name in threads.VARIABLES if name != "MKL_NUM_THREADS")
    assert threads.unset_variables({"OMP_NUM_THREADS": "4"}) == ()


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What `threads.limit` told the libraries."""
    told: list[tuple[str, int]] = []

    def tell(name: str) -> SimpleNamespace:
        return SimpleNamespace(**{name: lambda count: told.append((name, count))})

    monkeypatch.setitem(sys.modules, "threadpoolctl", tell("threadpool_limits"))
    monkeypatch.setitem(sys.modules, "torch", tell("set_num_threads"))
    monkeypatch.delitem(sys.modules, "numexpr", raising=False)
    for name in threads.VARIABLES:
        monkeypatch.setenv(name, "1")
    return told


def test_a_limit_reaches_loaded_libraries_and_those_to_come(limits: list[tuple[str, int]]) -> None:
    threads.limit(3, ("OMP_NUM_THREADS", "MKL_NUM_THREADS"))
    assert limits == [("threadpool_limits", 3), ("set_num_threads", 3)]
    assert (os.environ["OMP_NUM_THREADS"], os.environ["OPENBLAS_NUM_THREADS"]) == ("3", "1")


def test_a_limit_that_holds_already_loads_nothing(limits: list[tuple[str, int]]) -> None:
    threads.limit(1, threads.VARIABLES)
    assert limits == []


def test_what_the_user_set_stays(limits: list[tuple[str, int]]) -> None:
    threads.limit(3, ())
    assert limits == []


def test_a_python_thread_would_be_lost_in_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    main = threading.main_thread()
    monkeypatch.setattr(threading, "enumerate", lambda: [main, SimpleNamespace(name="watcher")])
    assert threads.lost_in_a_fork() == "1 Python thread(s) run there: watcher"


@pytest.mark.parametrize(
    ("tasks", "pools", "lost"),
    [
        (1, [], ""),
        (4, [{"internal_api": "openblas", "num_threads": 4}], ""),
        (4, [{"internal_api": "openblas", "num_threads": 2}], "2 native thread(s) run there"),
        (
            4,
            [{"internal_api": "openmp", "prefix": "libgomp", "num_threads": 4}],
            "3 native thread(s) run there",
        ),
        (4, [{"internal_api": "openmp", "prefix": "libomp", "num_threads": 4}], ""),
    ],
)
def test_native_threads_but_those_of_surviving_pools_would_be_lost(
    monkeypatch: pytest.MonkeyPatch, tasks: int, pools: list[dict[str, object]], lost: str
) -> None:
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    monkeypatch.setattr(os, "listdir", lambda path: ["task"] * tasks)
    monkeypatch.setitem(sys.modules, "threadpoolctl", SimpleNamespace(threadpool_info=lambda: pools))
    assert threads.lost_in_a_fork() == lost
