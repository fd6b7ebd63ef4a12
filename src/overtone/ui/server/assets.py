"""The files of the page: made and compressed once when the server starts, with strong ETags."""

from __future__ import annotations

import gzip
import hashlib
import re
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
        packed: Its bytes by gzip.
        kind: Its media type.
        tag: Its hash, of which its two forms have ETags of their own.
    """

    body: bytes
    packed: bytes
    kind: str
    tag: str


PARTS = ("zh.js", "guide.js")
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
    return Asset(body, gzip.compress(body, mtime=0), kind, hashlib.sha256(body).hexdigest()[:32])


def asset_routes(assets: Mapping[str, Asset]) -> list[Route]:
    """Return the routes of the page's files. Browsers ask each time whether a file has changed."""
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request: Request) -> Response:
        asset = assets[request.url.path]
        is_packed = _takes_gzip(request.headers.get("accept-encoding", ""))
        tag = f'"{asset.tag}-gzip"' if is_packed else f'"{asset.tag}"'
        headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if is_packed:
            headers["content-encoding"] = "gzip"
        return Response(asset.packed if is_packed else asset.body, headers=headers, media_type=asset.kind)

    return [Route(path, answer) for path in assets]


def _takes_gzip(accepted: str) -> bool:
    """Return whether an Accept-Encoding header names gzip, and not with weight 0."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False
