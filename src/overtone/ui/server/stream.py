"""Server-sent events: the changes of an experiment, to all pages that follow it.

One task reads an experiment on while pages follow it, in a thread of its own kind, so that streams do not
keep answers waiting. A page gets the present values of the rows that changed since the record that it has;
there is no queue, so a slow page costs nothing.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from overtone.ui.server.answers import reason_of, refusal_of
from overtone.ui.server.json_text import dumps

if TYPE_CHECKING:
    from overtone.ui.data.experiment import Experiment
    from overtone.ui.data.experiments import Experiments

T = TypeVar("T")

EVERY_S = 0.25
"""Least seconds between two updates of a page."""

OVERVIEW_EVERY_S = 1.0
"""Seconds between two looks at an overview without new records: a driver may have died."""

COMMENT_EVERY_S = 10.0
"""Seconds of silence after which a comment is sent, for proxies and for the page."""

_AGAIN_S = 3.0
_WAIT_S = 1.0
_FOLLOWERS = 64


class Streams:
    """All streams of a server.

    Args:
        experiments: The experiments of the server's folder.
    """

    def __init__(self, experiments: Experiments) -> None:
        self._experiments = experiments
        self._followed: dict[str, _Followed] = {}
        self._limiter = anyio.CapacityLimiter(_FOLLOWERS)
        self._is_closing = False

    @property
    def n_open(self) -> int:
        """The number of open streams."""
        return sum(one.n_streams for one in self._followed.values())

    def close(self) -> None:
        """End all streams; to be called in the event loop."""
        self._is_closing = True
        for one in self._followed.values():
            one.wake()

    async def answer(self, request: Request) -> Response:
        """Answer a request for a stream: `from` is the last record that the page has.

        `journal` is the key in the header of the page's columns.
        """
        name = request.path_params["exp"]
        asked = request.headers.get("last-event-id") or request.query_params.get("from") or "0"
        if not (asked.isascii() and asked.isdigit() and len(asked) <= 16):
            return refusal_of(ValueError("from: must be the number of a record"))
        try:
            experiment = await self.in_thread(partial(self._experiments.get, name))
        except Exception as error:
            return refusal_of(error)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        events = self._events(name, experiment, int(asked), request.query_params.get("journal", ""))
        return StreamingResponse(events, media_type="text/event-stream", headers={"x-accel-buffering": "no"})

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Return what `work` returns in a thread of the streams."""
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)

    async def _events(self, name: str, experiment: Experiment, n: int, journal: str) -> AsyncIterator[bytes]:
        followed = self._followed.get(name)
        if followed is None:
            followed = self._followed[name] = _Followed(
                self, experiment, partial(self._experiments.get, name)
            )
        followed.n_streams += 1
        try:
            sent_overview, sent_problem = b"", b""
            while not self._is_closing:
                turn = followed.turn
                if followed.problem != sent_problem:
                    sent_problem = followed.problem
                    yield event("problem", sent_problem or b"null", n)
                if followed.overview != sent_overview:
                    sent_overview = followed.overview
                    yield event("overview", sent_overview, n)
                if followed.n is not None and followed.n != n:
                    update = await followed.update(n, journal)
                    if update is None:
                        yield event("reload", b"null", n)
                        return
                    n, text = update
                    yield text
                if not await followed.wait(turn):
                    yield b": \n\n"
        finally:
            followed.n_streams -= 1
            if not followed.n_streams:
                del self._followed[name]
                followed.close()


class _Followed:
    """An experiment that at least one stream follows.

    Attributes:
        n: The newest record; None before the first look.
        overview: The overview as JSON; empty before the first look.
        problem: The reason why the experiment cannot be read now, as JSON; empty if it can.
        turn: Counts the changes of these.
    """

    def __init__(self, streams: Streams, experiment: Experiment, find: Callable[[], Experiment]) -> None:
        self.n_streams = self.turn = 0
        self.n: int | None = None
        self.overview = self.problem = b""
        self._streams, self._experiment, self._find = streams, experiment, find
        self._news = asyncio.Event()
        self._updates: dict[tuple[int, str], asyncio.Future[tuple[int, bytes] | None]] = {}
        self._task = asyncio.create_task(self._follow())

    def close(self) -> None:
        """Stop reading."""
        self._task.cancel()

    def wake(self) -> None:
        """Let all streams look again."""
        self.turn += 1
        self._updates.clear()
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def wait(self, turn: int) -> bool:
        """Wait for a turn after `turn`; return False if none came for `COMMENT_EVERY_S`."""
        if self.turn != turn:
            return True
        try:
            await asyncio.wait_for(self._news.wait(), COMMENT_EVERY_S)
        except asyncio.TimeoutError:
            return False
        return True

    async def update(self, n: int, journal: str) -> tuple[int, bytes] | None:
        """Return the record that a page with the records up to `n` is led to, and the event; None: reload.

        Streams in step share an event.
        """
        made = self._updates.get((n, journal))
        if made is None:
            work = partial(_rows_event, self._experiment, n, journal)
            made = self._updates[n, journal] = asyncio.ensure_future(self._streams.in_thread(work))
        return await asyncio.shield(made)

    async def _follow(self) -> None:
        overview_at, facts = -OVERVIEW_EVERY_S, None
        while True:
            begun_at = time.monotonic()
            try:
                n = await self._streams.in_thread(partial(self._experiment.wait, self.n or 0, _WAIT_S))
                problem = _problem(self._experiment)
                is_new = n != self.n or problem != self.problem
                if is_new or time.monotonic() - overview_at >= OVERVIEW_EVERY_S:
                    overview_at = time.monotonic()
                    self._experiment = await self._streams.in_thread(self._find)  # It may be deleted.
                    text, facts_now = await self._streams.in_thread(partial(_overview, self._experiment))
                    if facts_now != facts:
                        self.overview, facts, is_new = text, facts_now, True
                self.n, self.problem, pause_s = n, problem, EVERY_S
            except Exception as error:  # It was deleted or moved, is damaged, or its storage does not answer.
                problem = dumps({"error": reason_of(error)})
                is_new, self.problem, pause_s = problem != self.problem, problem, _AGAIN_S
            if is_new:
                self.wake()
            await asyncio.sleep(max(0.01, begun_at + pause_s - time.monotonic()))


def _problem(experiment: Experiment) -> bytes:
    """Return the reason why the experiment's storage does not answer, as JSON; empty if it does."""
    return dumps({"error": experiment.problem[:2000]}) if experiment.problem else b""


def _overview(experiment: Experiment) -> tuple[bytes, dict[str, Any]]:
    """Return the overview as JSON, and the facts whose change is worth an event."""
    found = experiment.overview()
    return dumps(found), {name: value for name, value in found.items() if name != "now"}


def _rows_event(experiment: Experiment, n: int, journal: str) -> tuple[int, bytes] | None:
    message = experiment.update_since(n, journal)
    if message is None:
        return None
    end = 4 + int.from_bytes(message[:4], "little")
    reached = int(json.loads(message[4:end])["n"])
    return reached, event("rows", base64.b64encode(message), reached)


def event(name: str, data: bytes, n: int) -> bytes:
    """Return a server-sent event; `data` is one line."""
    return b"event: %s\nid: %d\ndata: %s\n\n" % (name.encode(), n, data)
