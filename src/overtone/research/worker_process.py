"""The body of a process that carries out searches; it ends with the process that started it."""

from __future__ import annotations

import os
import pickle
import sys
from queue import SimpleQueue
from threading import Thread

from overtone.research.worker_pool import receive, send
from overtone.worker.process_tree import end_with


def main(parent: int) -> None:
    """Answer every case on stdin with its rows on stdout, until stdin ends or `parent` is gone."""
    end_with(parent)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the user's code must not mix with answers
    questions: SimpleQueue[bytes] = SimpleQueue()
    stream = sys.stdin.buffer
    sys.path[:], folder = pickle.loads(receive(stream))
    os.chdir(folder)
    setup = pickle.loads(receive(stream))

    def listen() -> None:
        while True:
            try:
                questions.put(receive(stream))
            except EOFError:
                os._exit(0)  # the reader is gone: pending answers are lost

    from overtone.research.search import rows_of

    Thread(target=listen, daemon=True).start()
    while True:
        case = pickle.loads(questions.get())
        send(answers, pickle.dumps(rows_of(setup, case)))
