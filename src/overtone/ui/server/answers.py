"""The API's answers: each is a method of `ui.data`, called in a thread with checked arguments."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from overtone.errors import ArgumentError, OvertoneError
from overtone.reading.trial_names import UnknownTrialError
from overtone.ui.data.actions import ActionError
from overtone.ui.server.json_text import dumps

if TYPE_CHECKING:
    from overtone.ui.data.experiment import Experiment
    from overtone.ui.data.experiments import Experiments

READERS = 8
"""Most threads that read for answers at a time; streams have threads of their own."""

ASKERS = 4
"""Most threads that wait for drivers at a time, so that a driver that does not answer keeps no reader."""

MOST_BODY_BYTES = 1 << 20
"""Largest body of an action."""

BODY_TIMEOUT_S = 10.0
"""Seconds in which a request's body must have come."""

MOST_ROWS = 5000
MOST_CURVES = 200
_MOST_POINTS = 20_000
_ROWS = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*", re.ASCII)


class BadRequestError(Exception):
    """A request that cannot be answered: the status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


_ACTION = ("verb", "trial", "args", "id")
_READ_ONLY = BadRequestError(403, "this server was started with --read-only")


class Answers:
    """The endpoints that read and steer experiments.

    Args:
        experiments: The experiments of the server's folder.
        read_only: Whether actions are refused.
    """

    def __init__(self, experiments: Experiments, read_only: bool) -> None:
        self._experiments, self._read_only = experiments, read_only
        self._readers, self._askers = anyio.CapacityLimiter(READERS), anyio.CapacityLimiter(ASKERS)

    def routes(self) -> list[Route]:
        """Return the routes of experiments, their comparison, and their metrics."""
        reads: dict[str, Callable[[Experiment, Request], Any]] = {
            "overview": lambda one, _: one.overview(),
            "columns": lambda one, _: one.columns(),
            "reading": lambda one, _: one.reading(),
            "machines": lambda one, _: one.machines(),
            "rows": lambda one, asked: one.rows(rows_in(_text(asked, "rows"))),
            "curves": _curves,
            "decisions": lambda one, asked: one.decisions(
                _number(asked, "before"), _number(asked, "limit", 100, 1000), _text(asked, "trial") or None
            ),
            "trials/{trial}": lambda one, asked: one.trial(asked.path_params["trial"]),
            "trials/{trial}/log": lambda one, asked: one.log(
                asked.path_params["trial"], _number(asked, "after"), _number(asked, "before")
            ),
            "plots/{name}": lambda one, asked: one.plot(
                asked.path_params["name"], **dict(asked.query_params.items())
            ),
        }
        base = "/api/experiments"
        return [
            Route(base, self._endpoint(self._listing)),
            Route("/api/compare", self._endpoint(self._compare)),
            Route("/metrics", self._metrics),
            *(
                Route(f"{base}/{{exp}}/{path}", self._endpoint(partial(self._of_experiment, read)))
                for path, read in reads.items()
            ),
            Route(f"{base}/{{exp}}/trials/{{trial}}/stack", self._stack),
            Route(f"{base}/{{exp}}/actions", self._act, methods=["POST"]),
        ]

    def _listing(self, _: Request) -> Any:
        return {"folder": self._experiments.folder, "experiments": self._experiments.listing()}

    def _of_experiment(self, read: Callable[[Experiment, Request], Any], request: Request) -> Any:
        return read(self._experiments.get(request.path_params["exp"]), request)

    async def _metrics(self, _: Request) -> Response:
        from overtone.ui.server.metrics import CONTENT_TYPE, metrics_of

        answer = await self._carried_out(partial(metrics_of, self._experiments))
        if answer.status_code == 200:
            answer.headers["content-type"] = CONTENT_TYPE
        return answer

    def _compare(self, request: Request) -> Any:
        names = [one for one in _text(request, "experiments").split(",") if one]
        if not 1 <= len(names) <= 10:
            raise ArgumentError("experiments: give 1 to 10 names, separated by commas")
        return self._experiments.comparison(names)

    def _endpoint(self, read: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await self._carried_out(partial(read, request))

        return answer

    async def _carried_out(self, read: Callable[[], Any], asks_driver: bool = False) -> Response:
        """Return what `read` returns in a thread, as an answer: bytes as they are, data as JSON."""
        try:
            found = await anyio.to_thread.run_sync(
                partial(_encoded, read),
                limiter=self._askers if asks_driver else self._readers,
                abandon_on_cancel=True,
            )
        except Exception as error:
            return refusal_of(error)
        if isinstance(found, tuple):
            return Response(found[0], media_type="application/octet-stream")
        return Response(found, media_type="application/json")

    async def _stack(self, request: Request) -> Response:
        if self._read_only:
            return refusal_of(_READ_ONLY)
        read = partial(self._of_experiment, lambda one, asked: one.stack(asked.path_params["trial"]), request)
        return await self._carried_out(read, asks_driver=True)

    async def _act(self, request: Request) -> Response:
        if self._read_only:
            return refusal_of(_READ_ONLY)
        try:
            asked = await json_body(request)
            if unknown := sorted(asked.keys() - set(_ACTION)):
                raise BadRequestError(
                    400, f"an action has no field {unknown[0]!r:.100} (known: {', '.join(_ACTION)})"
                )
            verb, trial, args, key = (asked.get(one) for one in _ACTION)
            if not isinstance(verb, str) or not isinstance(key, str) or not 8 <= len(key) <= 100:
                raise BadRequestError(
                    400, "verb and id must be texts; id has 8 to 100 letters, new for each action"
                )
            if not isinstance(trial, (str, type(None))) or not isinstance(args or {}, dict):
                raise BadRequestError(400, "trial must be a text or null, and args an object")
        except BadRequestError as error:
            return refusal_of(error)

        def act() -> Any:
            return self._experiments.get(request.path_params["exp"]).act(verb, trial or None, args or {}, key)

        return await self._carried_out(act, asks_driver=True)


def _encoded(read: Callable[[], Any]) -> bytes | tuple[bytes]:
    """Return the answer's body, made in the same thread; binary messages in a tuple."""
    found = read()
    return (bytes(found),) if isinstance(found, (bytes, bytearray, memoryview)) else dumps(found)


def refusal_of(error: Exception) -> Response:
    """Return the answer that tells of an error."""
    document: dict[str, Any] = {"error": reason_of(error)}
    if isinstance(error, BadRequestError):
        status = error.status
    elif isinstance(error, ActionError):
        status, document["allowed"] = 409, list(error.allowed)
    elif isinstance(error, (LookupError, UnknownTrialError)):
        status = 404
    elif isinstance(error, OSError):
        status = 502
    elif isinstance(error, ValueError):
        status = 400
    elif isinstance(error, OvertoneError):
        status = 409
    else:
        status = 500
    headers = {"connection": "close"} if status in (408, 413) else None
    return Response(dumps(document), status, headers, media_type="application/json")


def reason_of(error: Exception) -> str:
    """Return what a page may show of an error."""
    if isinstance(error, (BadRequestError, OvertoneError)):
        return str(error)[:2000]
    if isinstance(error, KeyError):
        return str(error.args[0])[:2000] if error.args else "not found"
    if isinstance(error, (LookupError, ValueError)) and str(error):
        return str(error)[:2000]
    return f"{type(error).__name__}: {error}"[:2000]


async def json_body(request: Request, most_bytes: int = MOST_BODY_BYTES) -> dict[str, Any]:
    """Return the JSON object in a request's body.

    Raises:
        BadRequestError: It is too large, comes too slowly, or is not a JSON object.
    """
    stated = request.headers.get("content-length", "0")
    if not stated.isdigit() or int(stated) > most_bytes:
        raise BadRequestError(413, f"the body has more than {most_bytes} bytes")
    body = bytearray()

    async def read() -> None:
        async for part in request.stream():
            body.extend(part)
            if len(body) > most_bytes:
                raise BadRequestError(413, f"the body has more than {most_bytes} bytes")

    try:
        await asyncio.wait_for(read(), BODY_TIMEOUT_S)
    except asyncio.TimeoutError:
        raise BadRequestError(408, f"the body did not come within {BODY_TIMEOUT_S:.0f} s") from None
    except ClientDisconnect:
        raise BadRequestError(400, "the client went away") from None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequestError(415, "Content-Type must be application/json")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequestError(400, "the body must be JSON") from None
    if not isinstance(found, dict):
        raise BadRequestError(400, "the body must be a JSON object")
    return found


def rows_in(text: str) -> list[int]:
    """Return the row numbers in a text such as "0-40,57".

    Raises:
        ArgumentError: It is not such a text, or names more than `MOST_ROWS` rows.
    """
    if len(text) > 10 * MOST_ROWS or not _ROWS.fullmatch(text):
        raise ArgumentError('rows: give row numbers, such as "0-40,57"')
    rows: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        wanted = range(int(first), int(last or first) + 1)
        if len(rows) + len(wanted) > MOST_ROWS:
            raise ArgumentError(f"rows: at most {MOST_ROWS} in one request")
        rows += wanted
    return rows


def _curves(one: Experiment, asked: Request) -> Any:
    trials = [trial for trial in _text(asked, "trials").split(",") if trial]
    if not 1 <= len(trials) <= MOST_CURVES:
        raise ArgumentError(f"trials: give 1 to {MOST_CURVES} ids, separated by commas")
    points = _number(asked, "points", 500, _MOST_POINTS)
    return one.curves(trials, _text(asked, "metric") or None, points)


def _text(request: Request, name: str) -> str:
    return str(request.query_params.get(name, ""))


def _number(request: Request, name: str, default: Any = None, most: int = 1 << 53) -> Any:
    text = _text(request, name)
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= most):
        raise ArgumentError(f"{name}={text[:40]!r}: must be a whole number from 0 to {most}")
    return int(text)
