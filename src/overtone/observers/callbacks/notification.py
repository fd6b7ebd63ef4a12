"""Tells people or programs about the end of a run, about failed trials, and about new best values."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from overtone.core.goal import is_number, lookup
from overtone.errors import ArgumentError
from overtone.observers.callbacks.callback import Callback
from overtone.standard_streams import say

EVENTS = ("end", "failure", "best")

LONGEST = 2_000
"""Maximum number of characters of the text for people."""

Message = dict[str, Any]


class NotificationCallback(Callback):
    """Runs a command, or posts to a URL, at the end of a run, at a failed trial and at a new best value.

    A thread does it, one message after the other. The run waits for it only at its end: no message begins
    later than `timeout_s` after that, except the one about the end. While a message about a best value waits,
    a better one replaces it. If messages cannot be delivered, the first one is reported, and the run
    continues.

    The message is JSON: `event`, `text` (one line for people, the field that chat services show),
    `experiment`, `path`, and for a trial `trial_id`, `metric`, `value`, `config` or `error`. A command gets
    it as its standard input, and `event`, `text`, `experiment`, `path` and `trial_id` as `OVERTONE_EVENT` and
    so on in its environment.

    Args:
        command: A program with its arguments, or one text for the shell.
        url: Gets the message by an HTTP POST.
        on: The events: "end", "failure", "best".
        timeout_s: Seconds for each message.

    Raises:
        ValueError: Neither or both of `command` and `url` are given, the URL is not http or https, or an
            event is unknown.
    """

    def __init__(
        self,
        command: str | Sequence[str] | None = None,
        url: str | None = None,
        on: Sequence[str] = EVENTS,
        timeout_s: float = 30.0,
    ) -> None:
        if (command is None) == (url is None):
            raise ArgumentError("NotificationCallback needs one of command=... and url=...")
        if url is not None and urlsplit(url).scheme not in ("http", "https"):
            raise ArgumentError(
                f"NotificationCallback(url={url!r:.100}): must begin with http:// or https://"
            )
        self._on = (on,) if isinstance(on, str) else tuple(on)
        for one in self._on:
            if one not in EVENTS:
                known = ", ".join(EVENTS)
                raise ArgumentError(f"NotificationCallback(on=...): {one!r} must be one of {known}")
        self._deliver = partial(_run, command) if url is None else partial(_post, url)
        self._timeout_s = timeout_s
        self._queue: _Queue | None = None
        self._best: float | None = None
        self._facts: Message = {}
        self._goal: Callable[[], tuple[str | None, str]] = lambda: (None, "max")

    def setup(  # type: ignore[override]
        self,
        goal: Callable[[], tuple[str | None, str]] | None = None,
        name: str = "",
        path: str = "",
        **info: Any,
    ) -> None:
        """Prepare for a run."""
        self._facts = {"experiment": name, "path": path}
        self._goal = goal or self._goal
        self._queue = _Queue(partial(self._deliver, timeout_s=self._timeout_s))

    def on_trial_result(
        self, iteration: int, trials: list[Any], trial: Any, result: dict[str, Any], **info: Any
    ) -> None:
        """Send a message if the value is the best so far."""
        metric, mode = self._goal()
        value: Any = lookup(result, metric) if metric is not None and "best" in self._on else None
        if metric is None or not is_number(value) or not math.isfinite(value):
            return
        if self._best is None or (value < self._best if mode == "min" else value > self._best):
            self._best = float(value)
            t = result["training_iteration"]
            text = f"new best {metric} {value:.6g} of trial {trial.trial_id} at iteration {t}"
            more = {"trial_id": trial.trial_id, "metric": metric, "value": value, "config": trial.config}
            self._send("best", text, more)

    def on_trial_error(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:
        """Send a message about the trial that failed for good."""
        error = trial.error
        more = {"trial_id": trial.trial_id, "error": error}
        self._send("failure", f"trial {trial.trial_id} failed: {error}", more)

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        """Send the last message, and wait until all are delivered."""
        counts: dict[str, int] = {}
        for trial in trials:
            counts[trial.status] = counts.get(trial.status, 0) + 1
        unfinished = len(trials) - counts.get("TERMINATED", 0) - counts.get("ERROR", 0)
        parts = [f"{counts.get('TERMINATED', 0)} trials done", f"{counts.get('ERROR', 0)} failed"]
        parts += [f"{unfinished} unfinished"] if unfinished else []
        metric, _ = self._goal()
        if self._best is not None:
            parts.append(f"best {metric} {self._best:.6g}")
        self._send("end", f"the run is over: {', '.join(parts)}", {"trials": counts})
        if self._queue is not None:
            self._queue.close(self._timeout_s)

    def get_state(self) -> dict[str, Any]:
        """Return the best value, so that a resumed run does not announce it again."""
        return {"best": self._best}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore the best value."""
        self._best = state["best"]

    def _send(self, event: str, text: str, more: Mapping[str, Any]) -> None:
        if event in self._on and self._queue is not None:
            shown = _line(f"{self._facts['experiment']}: {text}")
            self._queue.put({"event": event, "text": shown, **self._facts, **more})


class _Queue:
    """Delivers messages in a thread, which lives until the queue is closed.

    The message about the end is delivered in any case, after those that wait or in their place.

    Attributes:
        MOST: Maximum number of waiting messages; later ones are dropped.
    """

    MOST = 1_000

    def __init__(self, deliver: Callable[[Message], None]) -> None:
        self._deliver = deliver
        self._waiting: deque[Message] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._has_warned = False
        self._n_dropped = 0
        self._ends_at: float | None = None

    def put(self, message: Message) -> None:
        """Add a message; one about a best value replaces the one that waits."""
        with self._changed:
            if message["event"] == "best":
                kept = [one for one in self._waiting if one["event"] != "best"]
                self._waiting = deque(kept)
            if len(self._waiting) < self.MOST or message["event"] == "end":
                self._waiting.append(message)
            else:
                self._n_dropped += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="overtone notifications", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self, timeout_s: float) -> None:
        """Wait until all messages are delivered; after some seconds those that wait are dropped.

        The one on its way and the one about the end get as long again, each: a server may answer byte by
        byte.
        """
        with self._changed:
            self._ends_at = time.monotonic() + timeout_s
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(3 * timeout_s + 1)
        if n := len(self._waiting) + self._n_dropped:
            say(f"{n} notification{'s' * (n > 1)} could not be delivered within {timeout_s:g} s")

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    if self._ends_at is not None:
                        return
                    self._changed.wait()
                if self._ends_at is not None and time.monotonic() > self._ends_at:
                    last = [one for one in self._waiting if one["event"] == "end"]
                    self._n_dropped += len(self._waiting) - len(last)
                    self._waiting = deque(last)
                    if not last:
                        return
                message = self._waiting.popleft()
            try:
                self._deliver(message)
            except Exception as error:
                if not self._has_warned:
                    self._has_warned = True
                    say(f"a notification could not be delivered: {error}; the run continues")


def _text_of(message: Message) -> bytes:
    return json.dumps(message, default=repr).encode()


def _post(url: str, message: Message, *, timeout_s: float) -> None:
    """Post a message.

    Raises:
        OSError: The server cannot be reached, or refuses the message.
    """
    from urllib.request import Request, urlopen

    request = Request(url, _text_of(message), {"Content-Type": "application/json"})
    with urlopen(request, timeout=timeout_s):
        pass


def _line(text: str) -> str:
    """Return a text as one line, short enough for an environment variable, and without what none can hold."""
    line = " ".join(text.replace("\0", "").split())[:LONGEST]
    return line.encode(errors="backslashreplace").decode()


def _run(command: Any, message: Message, *, timeout_s: float) -> None:
    """Run the command; its output goes to the terminal.

    Raises:
        OSError: It cannot be started.
        RuntimeError: It failed, or took too long; it is ended then, with the processes that it started.
    """
    named = ("event", "text", "experiment", "path", "trial_id")
    given = {f"OVERTONE_{name.upper()}": str(message[name]) for name in named if name in message}
    shown = command if isinstance(command, str) else command[0]
    process = subprocess.Popen(
        command, shell=isinstance(command, str), stdin=subprocess.PIPE, env={**os.environ, **given},
        start_new_session=True,
    )  # fmt: skip
    try:
        process.communicate(_text_of(message), timeout_s)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{shown!r} took more than {timeout_s:g} s") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode:
        raise RuntimeError(f"{shown!r} ended with exit status {process.returncode}")
