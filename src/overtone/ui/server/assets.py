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
        packed: Its compressed bytes by content coding, the smallest first.
        kind: Its media type.
        tag: Its hash, of which each of its forms has an ETag of its own.
    """

    body: bytes
    packed: Mapping[str, bytes]
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
    """Return a file of the page with its ETag, compressed by gzip, and by Brotli if the wheel has it so."""
    from overtone.ui import bundle

    tag = hashlib.sha256(body).hexdigest()[:32]
    brotli = bundle.WEB / bundle.PACKED / f"{tag}.br"
    packed = {"br": brotli.read_bytes()} if brotli.is_file() else {}
    return Asset(body, {**packed, "gzip": gzip.compress(body, mtime=0)}, kind, tag)


def asset_routes(assets: Mapping[str, Asset]) -> list[Route]:
    """Return the routes of the page's files. Browsers ask each time whether a file has changed."""
    from starlette.responses import Response
    from starlette.routing import Route

    async def answer(request: Request) -> Response:
        asset = assets[request.url.path]
        accepted = request.headers.get("accept-encoding", "")
        coding = next((name for name in asset.packed if _is_accepted(name, accepted)), "")
        tag = f'"{asset.tag}-{coding}"' if coding else f'"{asset.tag}"'
        headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if coding:
            headers["content-encoding"] = coding
        body = asset.packed[coding] if coding else asset.body
        return Response(body, headers=headers, media_type=asset.kind)

    return [Route(path, answer) for path in assets]


def _is_accepted(coding: str, accepted: str) -> bool:
    """Return whether an Accept-Encoding header names the coding, and not with weight 0."""
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() == coding:
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False
