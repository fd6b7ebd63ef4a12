"""Work that a thread does in batches."""

import signal
import threading
import time

import pytest

from overtone.errors import StorageError
from overtone.observers.batch_thread import Aside


def test_everything_is_done_in_order_in_another_thread():
    done, threads = [], set()

    def work(batch):
        threads.add(threading.current_thread())
        done.extend(batch)

    aside = Aside(work, "a thread", most_waiting=10)
    for i in range(0, 100, 2):
        aside.put([i, i + 1])
    aside.wait()
    assert done == list(range(100))
    assert threading.current_thread() not in threads


def test_who_hands_over_too_much_waits():
    begun, may_go_on = threading.Event(), threading.Event()

    def work(batch):
        begun.set()
        may_go_on.wait(60)

    aside = Aside(work, "a thread", most_waiting=1, begin_after_s=0.0)
    aside.put([1])
    assert begun.wait(60)
    aside.put([2])
    other = threading.Thread(target=aside.put, args=([3],))
    other.start()
    other.join(0.05)
    assert other.is_alive()
    may_go_on.set()
    other.join(60)
    assert not other.is_alive()
    aside.wait()


def test_after_an_error_nothing_is_done_and_all_are_told():
    done = []

    def work(batch):
        done.extend(batch)
        raise StorageError("the disk is full")

    aside = Aside(work, "a thread", most_waiting=10)
    aside.put([1])
    for _ in range(2):
        with pytest.raises(StorageError, match="full"):
            aside.wait()
    with pytest.raises(StorageError, match="full"):
        aside.put([2])
    assert done == [1]


def test_any_error_is_told_and_nobody_waits_for_what_will_not_be_done():
    def work(batch):
        raise ZeroDivisionError

    aside = Aside(work, "a thread", most_waiting=1, begin_after_s=0.0)
    aside.put([1])
    with pytest.raises(ZeroDivisionError):
        aside.wait()
    with pytest.raises(ZeroDivisionError):
        aside.put([2])


def test_nobody_waits_for_a_batch_that_gathers():
    done = []
    aside = Aside(done.extend, "a thread", most_waiting=10, begin_after_s=1000.0, every_s=1000.0)
    aside.put([1])
    aside.wait()
    aside.put([2])
    aside.wait()
    assert done == [1, 2]


def test_half_of_what_may_wait_is_a_batch_at_once():
    batches = []
    aside = Aside(batches.append, "a thread", most_waiting=4, begin_after_s=1000.0, every_s=1000.0)
    for i in range(0, 100, 2):
        aside.put([i, i + 1])
    aside.wait()
    assert [one for batch in batches for one in batch] == list(range(100))
    assert len(batches) >= 20


def test_an_interrupt_while_it_waits_leaves_the_work_time_to_end():
    done = []

    def work(batch):
        time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.02)
        done.extend(batch)

    aside = Aside(work, "a thread", most_waiting=10, begin_after_s=10.0)
    aside.put([1, 2])
    with pytest.raises(KeyboardInterrupt):
        aside.wait()
    assert done == [1, 2]
