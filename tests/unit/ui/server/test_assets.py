"""The page's files by Brotli, as a wheel has them."""

import asyncio

import pytest

pytest.importorskip("starlette")

from starlette.requests import Request

from overtone.ui import bundle
from overtone.ui.server.assets import asset, asset_routes


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return a function that asks for a file, which is also there by Brotli, and returns the answer."""
    monkeypatch.setattr(bundle, "WEB", tmp_path)
    packed = tmp_path / bundle.PACKED
    packed.mkdir()
    (packed / f"{asset(b'text', 'text/plain').tag}.br").write_bytes(b"by Brotli")
    (route,) = asset_routes({"/": asset(b"text", "text/plain")})

    def ask(**headers):
        given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": given}
        return asyncio.run(route.endpoint(Request(scope)))

    return ask


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("br", "br"),
        ("gzip, br;q=0", "gzip"),
        ("gzip, deflate", "gzip"),
        ("deflate", None),
    ],
)
def test_a_browser_is_sent_the_smallest_form_that_it_takes(asked, accepted, coding):
    answer = asked(accept_encoding=accepted)
    assert answer.headers.get("content-encoding") == coding
    assert (answer.body == b"by Brotli") == (coding == "br")
    again = asked(accept_encoding=accepted, if_none_match=answer.headers["etag"])
    assert again.status_code == 304
    assert len({asked(accept_encoding=one).headers["etag"] for one in ("", "gzip", "br")}) == 3


def test_a_form_of_another_version_is_not_sent(asked):
    assert list(asset(b"text", "text/plain").packed) == ["br", "gzip"]
    assert list(asset(b"changed", "text/plain").packed) == ["gzip"]
