"""The guard before the dashboard's routes: who may ask, from which page, and what browsers may do.

All rules are allow-lists. A request passes if its Host is a name of this server, its Origin is this server,
and it has a login. Only the page itself and the login need no login.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from overtone.ui.server.assets import PARTS
from overtone.ui.server.sessions import Sessions

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
"""Names of this machine in a Host header. The port is free, so that SSH tunnels work."""

PUBLIC = frozenset(
    {"/", "/app.js", "/app.css", "/worker.js", *(f"/{name}" for name in PARTS), "/favicon.ico", "/api/login"}
)
"""Paths that need no login: the page, which has no data, and the login."""

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""Headers of every answer."""

_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9]([a-z0-9._-]{0,252}))(?::([0-9]{1,5}))?", re.ASCII)
_READS = frozenset({"GET", "HEAD"})
_METHODS = frozenset({"GET", "HEAD", "POST"})


class Refusal(NamedTuple):
    """The answer to a request that does not pass."""

    status: int
    error: str


class Guard:
    """ASGI middleware that refuses foreign requests, and adds the security headers to every answer.

    Args:
        app: The application behind it.
        sessions: Checks tokens and sessions.
        hosts: Host names of this server besides `LOOPBACK`, in lower case.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions, hosts: Iterable[str] = ()) -> None:
        self._app, self._sessions = app, sessions
        self._hosts = LOOPBACK | set(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_guarding(message)]}
            await send(message)

        refusal = self.refusal(scope["method"], scope["path"], _headers(scope))
        if refusal is None:
            await self._app(scope, receive, send_guarded)
        else:
            from starlette.responses import JSONResponse

            headers = {"connection": "close", "www-authenticate": "Bearer"}
            if refusal.status != 401:
                del headers["www-authenticate"]
            answer = JSONResponse({"error": refusal.error}, refusal.status, headers)
            await answer(scope, receive, send_guarded)

    def refusal(self, method: str, path: str, headers: Mapping[str, list[str]]) -> Refusal | None:
        """Return why a request does not pass; None if it passes.

        Args:
            method: Such as "GET".
            path: The decoded path.
            headers: The values of each header, by its name in lower case.
        """
        hosts = headers.get("host", [])
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None or name not in self._hosts:
            return Refusal(403, f"Host: {_shown(hosts)} is not a name of this server")
        if {"transfer-encoding", "content-length"} <= headers.keys():
            # a proxy may see another end of the body
            return Refusal(400, "Transfer-Encoding and Content-Length exclude each other")
        own = {f"{scheme}://{hosts[0].lower()}" for scheme in ("http", "https")}
        origins, bearer = headers.get("origin", []), _bearer(headers)
        if any(one.lower() not in own for one in origins) or len(origins) > 1:
            return Refusal(403, f"Origin: {_shown(origins)} is not this server")
        site = set(headers.get("sec-fetch-site", []))
        if method not in _READS:
            if site - {"same-origin"}:
                return Refusal(403, f"Sec-Fetch-Site: {_shown(site)} is not this server's page")
            if not origins and not bearer and path != "/api/login":
                return Refusal(403, "Origin is missing: give it, or a token as Authorization: Bearer")
        elif site - {"same-origin", "none"} and path != "/":
            return Refusal(403, f"Sec-Fetch-Site: {_shown(site)} is not this server's page")
        if method not in _METHODS:
            return Refusal(405, f"{method[:20]} is not a method of this server")
        if path not in PUBLIC and not self.is_known(headers):
            return Refusal(401, "open the address that `overtone ui` printed, with its token")
        return None

    def is_known(self, headers: Mapping[str, list[str]]) -> bool:
        """Return whether the request has the token, or a valid session."""
        if bearer := _bearer(headers):
            return self._sessions.is_token(bearer)
        wanted = cookie_name(headers.get("host", [""])[0])
        for cookies in headers.get("cookie", []):
            for cookie in cookies.split(";"):
                name, _, value = cookie.strip().partition("=")
                if name == wanted and self._sessions.is_valid(value):
                    return True
        return False


def host_name(host: str) -> str | None:
    """Return the name in a Host header without its port, in lower case; None if it is not well-formed."""
    found = _HOST.fullmatch(host.lower())
    return None if found is None else found[1]


def cookie_name(host: str) -> str:
    """Return the name of the session's cookie; it has the port, since all ports of a host share cookies.

    Args:
        host: The Host header. Its port is the port that the browser sees, also behind an SSH tunnel.
    """
    found = _HOST.fullmatch(host.lower())
    return f"overtone_{(found and found[3]) or 80}"


def _bearer(headers: Mapping[str, list[str]]) -> str:
    given = headers.get("authorization", [])
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _guarding(message: Any) -> list[tuple[bytes, bytes]]:
    """Return the headers that an answer lacks; an answer that does not say otherwise is never stored."""
    given = {name.lower() for name, _ in message.get("headers", ())}
    all_headers = {**HEADERS, "cache-control": "no-store"}
    return [
        (name.encode(), value.encode()) for name, value in all_headers.items() if name.encode() not in given
    ]


def _shown(values: Iterable[str]) -> str:
    return ", ".join(values)[:200].encode("ascii", "backslashreplace").decode() or "(missing)"
