"""The program in the process of a slow searcher: see `searcher_process_host`."""

from __future__ import annotations

import os
import pickle
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from overtone.core.messages import Suggest
from overtone.errors import OvertoneError
from overtone.worker.process_tree import end_with, stay_out_of_job_control

BOOT = (
    "import sys; numbers = map(int, sys.argv[1:3]); sys.path[:] = sys.argv[3:]; "
    "from overtone.worker.process_tree import wake_with_parent; wake_with_parent(); "
    "from overtone.run.searcher_process import main; main(*numbers)"
)
"""Code for `new_python`; arguments: the descriptor of the line to the driver, and the driver's pid."""

_LENGTH = struct.Struct("<Q")


def framed(message: Any) -> bytes:
    """Return `message` as bytes: a length and a pickle, with objects of the script by value."""
    from overtone.by_value import dumps

    body = dumps(message)
    return _LENGTH.pack(len(body)) + body


def bodies(line: socket.socket) -> Iterator[bytes]:
    """Yield the received pickles until the other end is gone."""
    with suppress(OSError), line.makefile("rb") as stream:
        while len(head := stream.read(_LENGTH.size)) == _LENGTH.size:
            (n,) = _LENGTH.unpack(head)
            body = stream.read(n)
            if len(body) < n:
                return
            yield body


def main(descriptor: int, driver: int) -> None:
    """Answer the requests from the line; exit at once when the driver is gone."""
    from queue import SimpleQueue
    from threading import Thread

    end_with(driver)
    stay_out_of_job_control()
    line = socket.socket(fileno=descriptor)
    questions: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        for body in bodies(line):
            questions.put(body)
        os._exit(0)  # Also during a suggestion: it is no longer needed.

    Thread(target=listen, daemon=True).start()
    try:
        _serve(line, questions)
    except Exception as error:
        _send_error(line, error)


def _serve(line: socket.socket, questions: Any) -> None:
    from overtone.run.searcher_host import answer
    from overtone.space import decode_config, encode_config

    searcher, space, known = pickle.loads(questions.get())
    while True:
        question = pickle.loads(questions.get())
        if not isinstance(question, Suggest):
            config = decode_config(space, question.trial.config)
            question = replace(question, trial=replace(question.trial, config=config))
        found = answer(searcher, question, float, known)  # the driver's clock counts
        if found is not None:
            data = None if found.config is None else encode_config(space, found.config)
            line.sendall(framed(("suggested", found.index, data)))


def _send_error(line: socket.socket, error: Exception) -> None:
    """Send an exception to the driver, with its traceback."""
    import traceback

    trace = traceback.format_exc()
    try:
        message = framed(("raised", error, trace))
        pickle.loads(message[_LENGTH.size :])  # some can be pickled and not read
    except Exception:
        message = framed(("raised", OvertoneError(f"{type(error).__name__}: {error}"), trace))
    line.sendall(message)
