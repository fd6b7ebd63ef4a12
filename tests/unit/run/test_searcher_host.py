"""Searchers are asked and told strictly in order."""

from threading import Event

import pytest

from overtone.core.messages import Observe, Suggest, Suggested
from overtone.core.protocols import Searcher
from overtone.core.resources import Resources
from overtone.core.trial import Trial
from overtone.core.types import Result
from overtone.errors import SpaceError
from overtone.run.searcher_host import InlineHost, ThreadHost

TRIAL = Trial("t", 0, {}, Resources.of({"cpu": 1}))
RESULT = Result(1, 0.5, (0.5,))


class Noting(Searcher):
    """Notes its calls; a suggestion tells how many came before it."""

    def __init__(self):
        self.calls = []

    def suggest(self, index):
        self.calls.append(("suggest", index))
        if index == 13:
            raise RuntimeError("unlucky")
        return None if index == 99 else {"n": len(self.calls)}

    def on_result(self, trial, result):
        self.calls.append(("result", trial.id, result.score))

    def on_trial_end(self, trial):
        self.calls.append(("end", trial.id))


def test_the_inline_host_answers_at_once():
    searcher = Noting()
    host = InlineHost(searcher, lambda: 2.5)
    assert host.submit(Observe(TRIAL, RESULT)) is None
    assert host.submit(Suggest(3)) == Suggested(2.5, 3, {"n": 2})
    assert host.submit(Suggest(99)) == Suggested(2.5, 99, None)
    assert host.submit(Observe(TRIAL, None)) is None
    assert host.poll() == []
    host.close()
    assert searcher.calls == [("result", "t", 0.5), ("suggest", 3), ("suggest", 99), ("end", "t")]


def test_the_inline_host_raises_what_the_searcher_raises():
    with pytest.raises(RuntimeError, match="unlucky"):
        InlineHost(Noting(), lambda: 0.0).submit(Suggest(13))


def answers(host, news, count):
    found = []
    while len(found) < count:
        assert news.wait(60)
        news.clear()
        found += host.poll()
    return found


def test_the_thread_host_answers_in_order_and_wakes_the_loop():
    searcher, news = Noting(), Event()
    host = ThreadHost(searcher, lambda: 1.0, news.set)
    for question in (Suggest(0), Observe(TRIAL, RESULT), Observe(TRIAL, None), Suggest(1), Suggest(99)):
        assert host.submit(question) is None
    assert answers(host, news, 3) == [
        Suggested(1.0, 0, {"n": 1}), Suggested(1.0, 1, {"n": 4}), Suggested(1.0, 99, None),
    ]  # fmt: skip
    assert host.poll() == []
    host.close()
    host._thread.join(60)
    assert not host._thread.is_alive()


def test_the_thread_host_does_not_keep_the_loop_waiting():
    may_answer, news = Event(), Event()

    class Slow(Noting):
        def suggest(self, index):
            assert may_answer.wait(60)
            return super().suggest(index)

    host = ThreadHost(Slow(), lambda: 0.0, news.set)
    host.submit(Suggest(0))
    assert host.poll() == []  # it thinks, and nobody waits
    may_answer.set()
    assert answers(host, news, 1) == [Suggested(0.0, 0, {"n": 1})]
    host.close()


def test_the_thread_host_raises_what_the_searcher_raised_after_its_answers():
    news = Event()
    host = ThreadHost(Noting(), lambda: 0.0, news.set)
    host.submit(Suggest(13))
    assert news.wait(60)
    with pytest.raises(RuntimeError, match="unlucky"):
        host.poll()
    host.close()


def test_a_config_that_fits_in_no_record_is_refused():
    class Large(Noting):
        def suggest(self, index):
            return {"x": 1, "data": ["y" * 1000] * 13_000}

    with pytest.raises(
        SpaceError, match=r"Large.suggest returned .* up to 12,582,912\..*'data'.*with_parameters"
    ):
        InlineHost(Large(), lambda: 0.0).submit(Suggest(1))
