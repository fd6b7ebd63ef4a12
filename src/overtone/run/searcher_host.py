"""Hosts that run a searcher: requests and results in strict order, without blocking the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any, Protocol

from overtone.core.messages import Observe, Suggest, Suggested
from overtone.core.protocols import Searcher
from overtone.core.sizes import LONGEST_CONFIG, estimate_json_bytes, largest_value
from overtone.core.types import Config
from overtone.errors import SpaceError, UsageError

Question = Suggest | Observe
Answers = dict[int, Config | None]


class Host(Protocol):
    """Asks and tells a searcher, strictly in order."""

    def submit(self, question: Question) -> Suggested | None:
        """Return the answer if it is available at once; otherwise it comes from `poll`."""

    def poll(self) -> list[Suggested]:
        """Return the answers since the last poll, in order; raise the searcher's exception, if any."""

    def close(self) -> None:
        """End the host."""


class InlineHost:
    """Answers at once, in the loop's own thread: for fast searchers."""

    def __init__(self, searcher: Searcher, now: Callable[[], float], answers: Answers | None = None) -> None:
        self._searcher = searcher
        self._now = now
        self._known = {} if answers is None else answers

    def submit(self, question: Question) -> Suggested | None:
        """Return the answer, if the question has one."""
        return answer(self._searcher, question, self._now, self._known)

    def poll(self) -> list[Suggested]:
        """Return nothing: all answers are immediate."""
        return []

    def close(self) -> None:
        """Do nothing."""


class AnswerInbox:
    """Answers of another thread, until the loop takes them; `wake` is called at each answer."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._answers: deque[Suggested | Exception] = deque()

    def put(self, answer: Suggested | Exception) -> None:
        """Add an answer, or the exception that ends all answers."""
        self._answers.append(answer)
        self._wake()

    def taken(self) -> list[Suggested]:
        """Return the new answers, in order; raise an exception at its place in the order."""
        found: list[Suggested] = []
        while self._answers:
            one = self._answers.popleft()
            if isinstance(one, Exception):
                raise one
            found.append(one)
        return found


class ThreadHost:
    """Answers from a separate thread; `wake` is called at each answer."""

    def __init__(
        self,
        searcher: Searcher,
        now: Callable[[], float],
        wake: Callable[[], None],
        answers: Answers | None = None,
    ) -> None:
        from queue import SimpleQueue

        self._searcher = searcher
        self._now = now
        self._known = {} if answers is None else answers
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._inbox = AnswerInbox(wake)
        self._thread = Thread(target=self._work, name="overtone searcher", daemon=True)
        self._thread.start()

    def submit(self, question: Question) -> Suggested | None:
        """Queue the question; its answer comes from `poll`."""
        self._questions.put(question)
        return None

    def poll(self) -> list[Suggested]:
        """Return the answers since the last poll, in order; raise the searcher's exception, if any."""
        return self._inbox.taken()

    def close(self) -> None:
        """End the thread after its current answer."""
        self._questions.put(None)

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            try:
                found = answer(self._searcher, question, self._now, self._known)
            except Exception as error:
                self._inbox.put(error)
                return
            if found is not None:
                self._inbox.put(found)


def answer(
    searcher: Searcher, question: Question, now: Callable[[], float], known: Answers
) -> Suggested | None:
    """Answer a question; earlier drivers' answers are in `known`.

    Raises:
        UsageError: The searcher suggested something else than a config.
    """
    if isinstance(question, Suggest):
        index = question.index
        config = known.pop(index) if index in known else searcher.suggest(index)
        if config is not None and type(config) is not dict and not isinstance(config, Mapping):
            raise UsageError(
                f"{type(searcher).__name__}.suggest returned {config!r:.100}: return a config, such as "
                '{"lr": 0.01}, or None if no config is available now'
            )
        if config is not None:
            _check_size(config, type(searcher).__name__)
            searcher.on_suggested(index, config)
        return Suggested(now(), index, config)
    tell(searcher, question)
    return None


def tell(searcher: Searcher, news: Observe) -> None:
    """Tell a searcher of a trial's result, pause or end."""
    if news.result is not None:
        searcher.on_result(news.trial, news.result)
    elif not news.pause:
        searcher.on_trial_end(news.trial)
    elif news.pause == "begins":
        searcher.on_trial_pause(news.trial)
    else:
        searcher.on_trial_unpause(news.trial)


def _check_size(config: Mapping[str, Any], searcher: str) -> None:
    """Refuse a config that does not fit in a record.

    Raises:
        SpaceError: It is too large.
    """
    size = estimate_json_bytes(config)
    if size > LONGEST_CONFIG:
        largest, largest_bytes = largest_value(config)
        raise SpaceError(
            f"{searcher}.suggest returned a config of about {size:,} bytes, and a config may take up to "
            f"{LONGEST_CONFIG:,}. The largest value is {largest!r} with about {largest_bytes:,} bytes: pass "
            f"large data with tune.with_parameters, or put its file name in the config"
        )
