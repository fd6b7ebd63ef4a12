"""The state that a notebook's widget sends, and the thread that sends it."""

from __future__ import annotations

import json
import threading

import numpy as np

from overtone.errors import StorageError
from overtone.ui.data.binary_message import MessageArrays
from overtone.ui.widget.live_state import LiveState
from overtone.ui.widget.pushing import Pushing


class Experiment:
    """An experiment whose journal is a list of rows that changed."""

    name = "asha"

    def __init__(self, n_trials=10_000):
        self.changed: list[int] = []
        self.n_trials, self.state, self.key = n_trials, "running", "a"
        self.is_there, self.is_closed = True, False
        self.came = threading.Condition()

    def report(self, *rows):
        with self.came:
            self.changed += rows
            self.came.notify_all()

    def end(self):
        with self.came:
            self.state = "finished"
            self.changed.append(0)
            self.came.notify_all()

    def overview(self):
        return {"state": self.state, "best": float("nan")}

    def columns(self):
        if not self.is_there:
            raise StorageError("there is no journal")
        return self._message(range(self.n_trials))

    def update_since(self, n, journal):
        return self._message(sorted(set(self.changed[n:]))) if journal == self.key else None

    def _message(self, rows):
        arrays = MessageArrays()
        place = arrays.add(np.fromiter(rows, np.int32))
        return arrays.message(
            {"n": len(self.changed), "journal": self.key, "arrays": [{"key": "rows", **place}]}
        )

    def wait(self, n, timeout_s):
        with self.came:
            self.came.wait_for(lambda: len(self.changed) != n, timeout_s)
            return len(self.changed)

    def close(self):
        self.is_closed = True


def rows_of(message):
    size = int.from_bytes(message[:4], "little")
    return np.frombuffer(message[4 + size :], np.int32).tolist()[
        : json.loads(message[4 : 4 + size])["arrays"][0]["length"]
    ]


def test_an_update_has_all_that_changed_since_the_whole():
    experiment = Experiment()
    state = LiveState(experiment)
    state.refresh()
    assert len(rows_of(state.whole)) == 10_000
    assert state.update == b""
    whole = state.whole
    for row in (3, 5, 3):
        experiment.report(row)
        state.refresh()
    assert state.whole is whole
    assert rows_of(state.update) == [3, 5]
    assert json.loads(state.overview) == {"state": "running", "best": "NaN", "id": "asha"}


def test_the_whole_comes_anew_if_an_update_is_large_or_the_journal_another():
    experiment = Experiment()
    state = LiveState(experiment)
    state.refresh()
    first = state.whole
    experiment.report(*range(6_000))
    state.refresh()
    assert state.whole != first
    assert state.update == b""
    second, experiment.key = state.whole, "b"
    state.refresh()
    assert state.whole != second


def test_it_waits_for_a_journal():
    experiment = Experiment()
    experiment.is_there, experiment.state = False, "damaged"
    state = LiveState(experiment)
    state.refresh()
    assert (state.whole, state.overview, state.is_over) == (b"", "", False)
    experiment.is_there, experiment.state = True, "running"
    state.refresh()
    assert state.whole


def test_states_are_sent_until_the_run_is_over():
    experiment, sent, ended = Experiment(), [], threading.Event()
    pushing = Pushing(experiment, lambda state: sent.append((state.update, state.is_over)), ended.set)
    pushing.start()
    experiment.report(7)
    experiment.end()
    pushing.join(10)
    assert ended.is_set()
    assert sent[-1][1]
    assert not pushing.is_alive
    assert experiment.is_closed


def test_a_thread_is_ended_without_the_end_of_the_run():
    experiment, ended = Experiment(), threading.Event()
    pushing = Pushing(experiment, lambda state: None, ended.set)
    pushing.start()
    pushing.stop()
    assert not pushing.is_alive
    assert not ended.is_set()


def test_a_run_that_has_no_driver_yet_is_not_over():
    experiment, starts, seen = Experiment(), threading.Event(), threading.Event()
    experiment.state = "interrupted"
    pushing = Pushing(experiment, lambda state: seen.set(), lambda: None, lambda: not starts.is_set())
    pushing.start()
    assert seen.wait(10)
    assert pushing.is_alive
    starts.set()
    experiment.end()
    pushing.join(10)
    assert not pushing.is_alive
