"""The ASGI application of the dashboard."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from overtone.ui.server.answers import Answers, BadRequestError, json_body, refusal_of
from overtone.ui.server.assets import Asset, asset_routes
from overtone.ui.server.guard import Guard, cookie_name
from overtone.ui.server.json_text import dumps
from overtone.ui.server.sessions import Sessions
from overtone.ui.server.stream import Streams
from overtone.version import __version__

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from overtone.ui.data.experiments import Experiments

_MOST_LOGIN_BYTES = 8192


class Dashboard(NamedTuple):
    """The application and its streams.

    Attributes:
        app: The ASGI application, guarded.
        streams: All streams, to be closed at the end.
    """

    app: ASGIApp
    streams: Streams


def dashboard(
    experiments: Experiments,
    token: str,
    assets: Mapping[str, Asset],
    *,
    read_only: bool = False,
    is_demo: bool = False,
    hosts: Iterable[str] = (),
) -> Dashboard:
    """Return the application for a folder of experiments.

    Args:
        experiments: The experiments.
        token: The login.
        assets: The files of the page by their paths.
        read_only: Whether actions are refused.
        is_demo: Whether the page guides through the demo.
        hosts: Host names of this server besides those of this machine.
    """
    sessions, streams = Sessions(token), Streams(experiments)
    answers = Answers(experiments, read_only)
    about = {
        "version": __version__,
        "read_only": read_only,
        "is_demo": is_demo,
        "folder": experiments.folder,
        "user": _user(),
        "can": {"act": not read_only, "log": True, "follow": True, "compare": True, "stack": not read_only},
    }

    async def login(request: Request) -> Response:
        try:
            given = (await json_body(request, _MOST_LOGIN_BYTES)).get("token")
        except BadRequestError as error:
            return refusal_of(error)
        if not isinstance(given, str) or not sessions.is_token(given):
            return refusal_of(BadRequestError(401, "this is not the token of this server"))
        answer = Response(status_code=204)
        name = cookie_name(request.headers["host"])
        answer.set_cookie(name, sessions.new(), httponly=True, samesite="strict", path="/")
        return answer

    async def me(_: Request) -> Response:
        return Response(dumps(about), media_type="application/json")

    async def failed(_: Request, error: Exception) -> Response:
        return refusal_of(error)

    async def not_found(request: Request, error: Any) -> Response:
        status = getattr(error, "status_code", 404)
        return refusal_of(BadRequestError(status, f"there is no {request.method} {request.url.path[:200]}"))

    app = Starlette(
        routes=[
            *asset_routes(assets),
            Route("/favicon.ico", lambda _: Response(status_code=204, headers={"cache-control": "no-cache"})),
            Route("/api/login", login, methods=["POST"]),
            Route("/api/me", me),
            Route("/api/experiments/{exp}/stream", streams.answer),
            *answers.routes(),
        ],
        exception_handlers={404: not_found, 405: not_found, 500: failed},
    )
    app.router.redirect_slashes = False
    return Dashboard(Guard(app, sessions, hosts), streams)


def _user() -> str:
    """Return the name of the user whom actions are recorded for."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return os.environ.get("USER", "")
