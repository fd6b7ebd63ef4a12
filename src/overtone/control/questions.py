"""Questions about a run, answered apart from the loop and without a record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import Full, Queue
from typing import Any

from overtone.control.answers import refusal
from overtone.control.wire import PROTOCOL
from overtone.version import __version__

Ask = Callable[[str], str]
"""Returns the answer to a question about a trial, as text; it may take seconds.

Raises:
    Exception: There is no answer; its text says why.
"""

MOST_WAITING = 16


class Questions:
    """Answers questions one after the other, in a thread that begins with the first.

    Args:
        answers: The function for each question, by its name.
    """

    def __init__(self, answers: Mapping[str, Ask]) -> None:
        self._answers = answers
        self._waiting: Queue[tuple[str, str, Callable[[dict[str, Any]], None]]] = Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    def __contains__(self, what: object) -> bool:
        return what in self._answers

    def put(self, document: Mapping[str, Any], reply: Callable[[dict[str, Any]], None]) -> None:
        """Ask; `reply` gets the answer, from another thread or at once."""
        trial_id = document.get("trial_id")
        if not isinstance(trial_id, str) or not trial_id:
            reply(refusal(f"{document['what']} must name a trial", "wrong"))
            return
        try:
            self._waiting.put_nowait((document["what"], trial_id, reply))
        except Full:
            reply(refusal("too many questions wait for their answers: ask again", "refused"))
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="overtone-questions", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            what, trial_id, reply = self._waiting.get()
            try:
                text = self._answers[what](trial_id)
            except Exception as error:
                reply(refusal(str(error) or type(error).__name__, "refused"))
            else:
                reply({"protocol": PROTOCOL, "version": __version__, "text": text})
