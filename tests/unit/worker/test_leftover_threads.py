"""Threads that are there, and were not before."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator

import pytest

from overtone.worker.session.leftover_threads import StartedThreads, native_ids_now

Begin = Callable[..., threading.Thread]


@pytest.fixture
def held() -> Iterator[threading.Event]:
    """Threads wait for it, and are gone after the test."""
    event = threading.Event()
    before = set(threading.enumerate())
    yield event
    event.set()
    for one in set(threading.enumerate()) - before:
        if not isinstance(one, threading._DummyThread):
            one.join(60)


@pytest.fixture
def begin(held: threading.Event) -> Begin:
    def make(**options: object) -> threading.Thread:
        thread = threading.Thread(target=held.wait, args=(10,), daemon=True, **options)  # type: ignore[arg-type]
        thread.start()
        return thread

    return make


def test_a_thread_that_runs_is_named_until_it_ends(begin: Begin, held: threading.Event) -> None:
    begin(name="before")
    started = StartedThreads()
    assert started.names() == []
    thread = begin(name="loader")
    assert started.names() == ["loader"]
    assert started.native_ids() == {thread.native_id}
    held.set()
    assert started.names(grace_s=60) == []
    assert thread.native_id not in native_ids_now() or not thread.is_alive()


def test_a_thread_without_an_object_counts(held: threading.Event) -> None:
    started, runs = StartedThreads(), threading.Event()

    def wait() -> None:
        runs.set()
        held.wait(60)

    _thread.start_new_thread(wait, ())
    assert runs.wait(60)
    assert started.names() == ["one without a name"]
    assert len(started.native_ids()) == 1
    held.set()
    assert started.names(grace_s=60) == []


def test_a_thread_that_python_did_not_start_is_gone_when_the_system_says_so(held: threading.Event) -> None:
    started, runs = StartedThreads(), threading.Event()

    def wait() -> None:
        threading.current_thread()  # makes an object for it, which stays
        runs.set()
        held.wait(60)

    _thread.start_new_thread(wait, ())
    assert runs.wait(60)
    assert [name.partition("-")[0] for name in started.names()] == ["Dummy"]
    held.set()
    assert started.names(grace_s=60) == []


def test_threads_that_libraries_keep_do_not_count(begin: Begin) -> None:
    started = StartedThreads()
    begin(name="fsspecIO")
    begin(name="asyncio_0")
    assert started.names() == []


def test_an_executor_of_the_trials_own_loop_does_count(begin: Begin) -> None:
    started = StartedThreads()
    begin(name="asyncio_0")
    assert started.names() == ["asyncio_0"]


def test_what_the_system_calls_the_threads_before(begin: Begin) -> None:
    assert StartedThreads().native_before == native_ids_now()
    begin()
    assert StartedThreads().native_before == native_ids_now()
