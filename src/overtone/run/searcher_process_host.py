"""A slow searcher in a separate process, so that its Python code does not block the loop.

It goes there as it is when it is asked for the first time: what an earlier driver's journal told it, it
knows by then. From there on questions and answers travel as data, a config by its places in the space. The
process is this driver's alone: it ends with it, and Ctrl-C does not reach it.

Answers are pickles, unlike what trials send: a config may hold any object of the space, and an error is
raised as it was. What runs in the process is the searcher that the user handed to this very driver, as a
pickle that the driver made. It has run here before, and may do all that the driver may.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from overtone.core.messages import Suggest, Suggested
from overtone.core.protocols import Searcher
from overtone.errors import OvertoneError
from overtone.run.searcher_host import AnswerInbox, Answers, Question
from overtone.run.searcher_process import BOOT, bodies, framed
from overtone.space import decode_config, encode_config
from overtone.worker.process_tree import GROUP_OF_ITS_OWN
from overtone.worker.server.python_command import new_python
from overtone.worker.threads import VARIABLES

if TYPE_CHECKING:
    from subprocess import Popen

ENDS_WITHIN_S = 5.0
"""Seconds to wait for a killed process."""


class ProcessHost:
    """Answers from another process; `wake` is called at each answer.

    Args:
        space: The parsed space that `searcher` searches.
        answers: Known answers by index; read at the first question.
    """

    def __init__(
        self,
        searcher: Searcher,
        space: Any,
        now: Callable[[], float],
        wake: Callable[[], None],
        answers: Answers | None = None,
    ) -> None:
        self._searcher = searcher
        self._space = space
        self._now = now
        self._known = {} if answers is None else answers
        self._process: Popen[bytes] | None = None
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._inbox = AnswerInbox(wake)
        self._is_closed = False

    def submit(self, question: Question) -> Suggested | None:
        """Send the question; its answer comes from `poll`.

        Raises:
            OvertoneError: The searcher cannot go to another process.
        """
        if self._process is None:
            self._process = self._begin()
        if not isinstance(question, Suggest):  # a trial as it is now: it will change
            config = encode_config(self._space, question.trial.config)
            question = replace(question, trial=replace(question.trial, config=config))
        self._outbox.put(framed(question))
        return None

    def poll(self) -> list[Suggested]:
        """Return the answers since the last poll, in order; raise the searcher's exception, if any."""
        return self._inbox.taken()

    def close(self) -> None:
        """End the process at once."""
        self._is_closed = True
        self._outbox.put(None)
        if self._process is not None:
            self._process.kill()
            self._process.wait(ENDS_WITHIN_S)

    def _begin(self) -> Popen[bytes]:
        """Start and return the process, with the searcher's state."""
        import socket
        import subprocess

        name = type(self._searcher).__name__
        try:
            luggage = framed((self._searcher, self._space, self._known))
        except Exception as error:
            raise OvertoneError(
                f"{name} has is_slow=True and cannot go to a process of its own ({type(error).__name__}: "
                f"{error}): keep to what can be pickled, or set is_slow = False"
            ) from error
        ours, theirs = socket.socketpair()
        process = subprocess.Popen(
            new_python(BOOT, str(theirs.fileno()), str(os.getpid())),
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            **GROUP_OF_ITS_OWN,
            # unless the user says otherwise: the other cores belong to the trials
            env={**dict.fromkeys(VARIABLES, "1"), **os.environ},
        )
        theirs.close()
        self._outbox.put(luggage)
        Thread(target=self._send, args=(ours,), name="overtone to searcher", daemon=True).start()
        Thread(target=self._receive, args=(ours, process), name="overtone searcher", daemon=True).start()
        return process

    def _send(self, line: Any) -> None:
        # in a thread: a searcher that thinks reads late, and the line holds only so much
        while (one := self._outbox.get()) is not None:
            try:
                line.sendall(one)
            except OSError:
                return  # it ended: `_receive` says so

    def _receive(self, line: Any, process: Popen[bytes]) -> None:
        for body in bodies(line):
            what, *rest = pickle.loads(body)
            if what == "raised":
                error, trace = rest
                error.__cause__ = OvertoneError(f"in the searcher's process:\n{trace}")
                self._inbox.put(error)
                break
            index, data = rest
            config = None if data is None else decode_config(self._space, data)
            self._inbox.put(Suggested(self._now(), index, config))
        else:
            if not self._is_closed:
                self._inbox.put(
                    OvertoneError(
                        f"the process of {type(self._searcher).__name__} ended (exit code {process.wait()}): "
                        "resume the experiment to go on"
                    )
                )
        line.close()
