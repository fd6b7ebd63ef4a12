"""Which requests the dashboard's guard lets pass."""

import pytest

pytest.importorskip("starlette")

from overtone.ui.server.guard import Guard, cookie_name, host_name
from overtone.ui.server.sessions import Sessions

TOKEN = "t" * 43
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"]


async def nothing(scope, receive, send):
    """The application behind the guard."""


@pytest.fixture
def refusal():
    guard = Guard(nothing, Sessions(TOKEN), {"box.example"})

    def refusal(method="GET", path="/api/me", host="127.0.0.1:8470", **headers):
        given = {"host": host if isinstance(host, list) else [host], "authorization": [f"Bearer {TOKEN}"]}
        for name, value in headers.items():
            given[name.replace("_", "-")] = value if isinstance(value, list) else [value]
        found = guard.refusal(method, path, {name: value for name, value in given.items() if value != [None]})
        return None if found is None else found.status

    return refusal


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8470", "localhost:1", "LOCALHOST:9", "[::1]:8470", "box.example:80"]
)
def test_own_hosts_pass(refusal, host):
    assert refusal(host=host) is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.", "127.0.0.1:", "127.0.0.1:1:2", "127.0.0.1@evil", "",
     "127.0.0.2", "[::2]:1", "0.0.0.0:8470", "localhost:80/..", "local host", "evil.example#localhost"],
)  # fmt: skip
def test_foreign_hosts_are_refused_for_each_method(refusal, method, host):
    assert refusal(method, host=host) == 403
    assert refusal(method, "/", host=host) == 403


def test_a_request_has_one_host(refusal):
    assert refusal(host=None) == 403
    assert refusal(host=["localhost", "localhost"]) == 403


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://127.0.0.1:3000", "http://127.0.0.1", "null", "", "http://localhost:8470",
     "http://127.0.0.1:8470.evil.example", "http://127.0.0.1:8470@evil.example", "file://"],
)  # fmt: skip
def test_foreign_origins_are_refused_for_each_method(refusal, method, origin):
    assert refusal(method, origin=origin) == 403


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
def test_foreign_pages_are_refused_for_each_method(refusal, method, site):
    assert refusal(method, sec_fetch_site=site) == 403


def test_a_link_on_a_foreign_page_may_open_the_page_alone(refusal):
    assert refusal("GET", "/", sec_fetch_site="cross-site") is None
    assert refusal("GET", "/app.js", sec_fetch_site="cross-site") == 403
    assert refusal("POST", "/", sec_fetch_site="none") == 403


def test_a_request_with_two_ends_of_its_body_is_refused(refusal):
    assert refusal("POST", "/api/login", content_length="5", transfer_encoding="chunked") == 400
    assert refusal("POST", "/api/login", transfer_encoding="chunked") is None


def test_own_pages_pass(refusal):
    own = {"origin": "http://127.0.0.1:8470", "sec_fetch_site": "same-origin"}
    assert refusal("POST", **own) is None
    assert refusal("GET", sec_fetch_site="none") is None
    assert refusal("POST", host="LocalHost:9000", origin="http://localhost:9000") is None


@pytest.mark.parametrize("method", [one for one in METHODS if one not in ("GET", "HEAD", "POST")])
def test_other_methods_are_refused(refusal, method):
    assert refusal(method, origin="http://127.0.0.1:8470") == 405


def test_a_post_without_origin_needs_the_token(refusal):
    session = f"overtone_8470={Sessions(TOKEN).new()}"
    assert refusal("POST") is None
    assert refusal("POST", authorization=None, cookie=session) == 403
    assert refusal("POST", authorization=None, cookie=session, origin="http://127.0.0.1:8470") is None


@pytest.mark.parametrize(
    "path", ["/api/me", "/metrics", "/api", "/api/login/", "/other", "//", "/api/../", "/app.js/x"]
)
def test_all_but_the_page_needs_a_login(refusal, path):
    assert refusal("GET", path, authorization=None) == 401


@pytest.mark.parametrize(
    "authorization",
    ["Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer \udcff",
     [f"Bearer {TOKEN}", f"Bearer {TOKEN}"]],
)  # fmt: skip
def test_wrong_tokens_are_refused(refusal, authorization):
    assert refusal(authorization=authorization) == 401


def test_sessions(refusal, monkeypatch):
    session = Sessions(TOKEN).new()
    assert TOKEN not in session
    assert session != Sessions(TOKEN).new()
    assert refusal(authorization=None, cookie=f"a=b; overtone_8470={session}") is None
    assert refusal(authorization=None, cookie=f"overtone_8471={session}") == 401
    assert refusal(authorization=None, cookie=f"overtone_8470={TOKEN}") == 401
    assert refusal(authorization=None, cookie="overtone_8470=") == 401
    assert refusal(authorization=None, cookie="overtone_8470=1.a.\xff") == 401
    later = f"9{session}"
    assert refusal(authorization=None, cookie=f"overtone_8470={later}") == 401
    assert refusal(authorization=None, cookie=f"overtone_8470={Sessions('u' * 43).new()}") == 401
    expired = float(session.partition(".")[0])
    monkeypatch.setattr("time.time", lambda: expired)
    assert refusal(authorization=None, cookie=f"overtone_8470={session}") == 401


def test_cookies_carry_the_port_that_the_browser_sees():
    assert cookie_name("localhost:9000") == "overtone_9000"
    assert cookie_name("[::1]:9000") == "overtone_9000"
    assert cookie_name("box.example") == "overtone_80"
    assert host_name("[::1]:9000") == "[::1]"
