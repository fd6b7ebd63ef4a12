"""The files of the page: made once when the server starts, with strong ETags."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route


class Asset(NamedTuple):
    """A file of the page.

    Attributes:
        body: Its bytes.
        kind: Its media type.
        tag: Its ETag, with quotation marks.
    """

    body: bytes
    kind: str
    tag: str


PARTS = ("views.js", "zh.js", "guide.js")
"""Scripts that the page fetches when it first needs them."""


def page_files() -> dict[str, Asset]:
    """Return the files of the page by their paths."""
    from overtone.ui import bundle

    def script(entry: str, after: str = "") -> Asset:
        return asset(bundle.script(entry, after).encode(), "text/javascript; charset=utf-8")

    page = (bundle.WEB / "index.html").read_bytes()
    return {
        "/": asset(page, "text/html; charset=utf-8"),
        "/app.js": script("main.js"),
        "/worker.js": script("plots/worker.js"),
        **{f"/{name}": script(f"parts/{name}", "main.js") for name in PARTS},
        "/app.css": asset(bundle.style().encode(), "text/css; charset=utf-8"),
    }


def asset(body: bytes, kind: str) -> Asset:
    """Return a file of the page with its ETag."""
    return Asset(body, kind, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def asset_routes(assets: Mapping[str, Asset]) -> list[Route]:
    """Return the routes of the page's files. Browsers ask each time whether a file has changed."""
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request: Request) -> Response:
        asset = assets[request.url.path]
        headers = {"etag": asset.tag, "cache-control": "no-cache"}
        if asset.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(asset.body, headers=headers, media_type=asset.kind)

    return [Route(path, answer) for path in assets]
