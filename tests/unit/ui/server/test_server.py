"""The dashboard's server on a real port: routes, limits, streams, and its end."""

import gzip
import json
import socket
import threading

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from overtone.ui.server import answers, service, stream
from overtone.ui.server.guard import HEADERS
from overtone.ui.server.life import Life

BASE = "/api/experiments/first"


def events(connection):
    """Give the events of a stream as (name, id, data)."""
    buffer = b""
    while b"\r\n\r\n" not in buffer:
        buffer += connection.recv(65536)
    buffer = buffer.partition(b"\r\n\r\n")[2]
    text, is_over = b"", False
    while not is_over:
        while b"\r\n" in buffer:  # chunks
            size, _, rest = buffer.partition(b"\r\n")
            length = int(size, 16)
            is_over = not length
            if is_over:
                break
            if len(rest) < length + 2:
                break
            text, buffer = text + rest[:length], rest[length + 2 :]
        while b"\n\n" in text:
            one, _, text = text.partition(b"\n\n")
            fields = dict(line.split(b": ", 1) for line in one.split(b"\n") if not line.startswith(b":"))
            if fields:
                yield fields[b"event"].decode(), int(fields[b"id"]), fields[b"data"]
        got = b"" if is_over else connection.recv(65536)
        is_over = not got
        buffer += got


def follow(server, path="/stream", headers=""):
    connection = server.connect()
    connection.sendall(
        f"GET {BASE}{path} HTTP/1.1\r\nHost: localhost:{server.port}\r\nAuthorization: Bearer {'t' * 43}\r\n"
        f"{headers}\r\n".encode()
    )
    return connection, events(connection)


def test_every_answer_has_the_security_headers(shared_server):
    for method, path, token in [
        ("GET", "/", ""), ("GET", "/api/me", ""), ("GET", "/api/me", "t" * 43), ("GET", "/nothing", "t" * 43),
        ("DELETE", "/", ""), ("HEAD", "/", ""), ("GET", f"{BASE}/columns", "t" * 43), ("POST", "/api/login", ""),
    ]:  # fmt: skip
        _, headers, _ = shared_server.ask(method, path, token=token)
        assert {name: headers.get(name) for name in HEADERS} == HEADERS
        assert "server" not in headers
        assert headers["cache-control"] == ("no-cache" if path == "/" and method != "DELETE" else "no-store")


def test_the_page_has_an_etag(shared_server):
    status, headers, body = shared_server.ask("GET", "/", token="")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert body
    status, again, body = shared_server.ask("GET", "/", [f"If-None-Match: {headers['etag']}"], token="")
    assert (status, again["etag"], body) == (304, headers["etag"], b"")
    assert shared_server.ask("GET", "/", ['If-None-Match: "other"'], token="")[0] == 200


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.00", False),
    ],
)
def test_the_page_is_sent_compressed_to_who_takes_it(shared_server, accepted, is_packed):
    _, plain, body = shared_server.ask("GET", "/", token="")
    _, headers, given = shared_server.ask("GET", "/", [f"Accept-Encoding: {accepted}"], token="")
    assert (gzip.decompress(given) if is_packed else given) == body
    assert headers.get("content-encoding") == ("gzip" if is_packed else None)
    assert (headers["etag"] != plain["etag"]) == is_packed
    assert headers["vary"] == "accept-encoding"
    known = [f"If-None-Match: {headers['etag']}", f"Accept-Encoding: {accepted}"]
    assert shared_server.ask("GET", "/", known, token="")[0] == 304


def test_a_login_gives_a_session(shared_server):
    wrong = shared_server.json("POST", "/api/login", {"token": "wrong"}, token="")
    assert wrong == (401, {"error": "this is not the token of this server"})
    for document in ({}, {"token": 1}, {"token": None}, {"token": ["t" * 43]}):
        assert shared_server.json("POST", "/api/login", document, token="")[0] == 401
    body = json.dumps({"token": "t" * 43}).encode()
    origin = f"Origin: http://127.0.0.1:{shared_server.port}"
    status, headers, _ = shared_server.ask(
        "POST", "/api/login", ["Content-Type: application/json", origin], body, token=""
    )
    assert status == 204
    cookie, *flags = headers["set-cookie"].split("; ")
    assert {one.lower() for one in flags} == {"httponly", "path=/", "samesite=strict"}
    assert cookie.startswith(f"overtone_{shared_server.port}=")
    assert "t" * 43 not in cookie
    status, me = shared_server.json("GET", "/api/me", headers=[f"Cookie: {cookie}"], token="")
    assert (status, me["folder"], me["read_only"]) == (200, "/results", False)


def test_routes_call_the_data(shared_server):
    cases = {
        "/api/experiments": {"folder": "/results", "experiments": [{"id": "first", "state": "running"}]},
        "/api/compare?experiments=first,second": {"experiments": [{"id": "first"}, {"id": "second"}]},
        f"{BASE}/rows?rows=0-2,7": {"n": 5, "rows": [{"row": 0}, {"row": 1}, {"row": 2}, {"row": 7}]},
        f"{BASE}/trials/t1": {"trial_id": "t1"},
        f"{BASE}/trials/t1/log?after=12": {"lines": [], "after": 12, "before": None},
        f"{BASE}/trials/t1/stack": {"text": "stack"},
        f"{BASE}/curves?trials=a,b&metric=loss": {"metric": "loss", "trials": ["a", "b"], "points": 500},
        f"{BASE}/decisions": {"before": None, "limit": 100, "trial": None},
        f"{BASE}/decisions?before=9&limit=5&trial=t1": {"before": 9, "limit": 5, "trial": "t1"},
        f"{BASE}/machines": {"nodes": []},
    }  # fmt: skip
    for path, document in cases.items():
        assert shared_server.json("GET", path) == (200, document)
    status, headers, body = shared_server.ask("GET", f"{BASE}/columns")
    assert (status, headers["content-type"]) == (200, "application/octet-stream")
    assert "content-encoding" not in headers
    assert json.loads(body[4:])["n"] == 5
    assert json.loads(shared_server.ask("GET", f"{BASE}/plots/history?a=1&b=2")[2][4:])["rows"] == ["a", "b"]
    assert shared_server.ask("HEAD", f"{BASE}/stream")[0] == 200


def test_names_that_do_not_exist(shared_server):
    for path in (
        "/api/experiments/second/overview",
        f"{BASE}/trials/t2",
        f"{BASE}/other",
        "/api/experiments/",
        "/x",
    ):
        assert shared_server.json("GET", path)[0] == 404
    assert shared_server.json("GET", f"{BASE}/actions")[0] == 405
    assert shared_server.json("POST", f"{BASE}/columns", {})[0] == 405


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/experiments/../../etc/passwd", "//etc/passwd",
     "/api/experiments/..%2f..%2fetc/overview", "/api/experiments/%2e%2e/overview", "/api/experiments/./overview",
     "/api/experiments/first%00/overview", "/api/experiments/%ff%fe/overview", "/app.js/../../../setup.py",
     f"{BASE}/trials/..%2f..%2f..%2fetc%2fpasswd", f"{BASE}/trials/%2e%2e/log", f"{BASE}/plots/../columns/x",
     "/static/../app.py", "/..\\..\\windows", f"http://localhost{BASE}/x", "*"],
)  # fmt: skip
def test_traversal_finds_nothing(shared_server, path):
    assert shared_server.ask("GET", path)[0] in (400, 404)


@pytest.mark.parametrize(
    "query",
    ["rows?rows=", "rows", "rows?rows=a", "rows?rows=1-", "rows?rows=-1", "rows?rows=0-999999999", "rows?rows=1,,2",
     "rows?rows=%D9%A1", "curves", "curves?trials=,", f"curves?trials={'a,' * 201}", "curves?trials=a&points=99999999",
     "decisions?limit=-1", "decisions?limit=1e9", "decisions?before=%D9%A1", "trials/t1/log?after=x",
     "stream?from=x", "stream?from=-1"],
)  # fmt: skip
def test_wrong_arguments(shared_server, query):
    status, document = shared_server.json("GET", f"{BASE}/{query}")
    assert status == 400
    assert document["error"]


def test_actions(server, experiments):
    action = {"verb": "stop_trial", "trial": "t1", "args": {"note": "x"}, "id": "12345678"}
    assert server.json("POST", f"{BASE}/actions", action) == (200, {"n": 5, "text": "done"})
    assert experiments.first.acted == [("stop_trial", "t1", {"note": "x"}, "12345678")]
    refused = server.json("POST", f"{BASE}/actions", {**action, "verb": "refused"})
    assert refused == (409, {"error": "not now", "allowed": ["stop"]})
    for wrong in ({"verb": 1}, {"id": None}, {"id": "short"}, {"trial": 3}, {"args": [1]}, {"arg": {}}):
        assert server.json("POST", f"{BASE}/actions", {**action, **wrong})[0] == 400
    assert server.json("POST", "/api/experiments/second/actions", action)[0] == 404
    assert len(experiments.first.acted) == 1


def test_a_read_only_server_refuses_actions(serve, experiments):
    with serve(experiments, read_only=True) as server:
        action = {"verb": "stop", "trial": None, "args": {}, "id": "12345678"}
        assert server.json("POST", f"{BASE}/actions", action)[0] == 403
        assert server.json("GET", f"{BASE}/trials/t1/stack")[0] == 403
        assert server.json("GET", "/api/me")[1]["can"]["act"] is False
    assert experiments.first.acted == []


def test_a_page_elsewhere_cannot_act(server, experiments):
    action = json.dumps({"verb": "stop", "trial": None, "args": {}, "id": "12345678"}).encode()
    for headers in (
        ["Origin: http://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: same-site"],
        [f"Origin: http://127.0.0.1:{server.port + 1}"],
    ):  # fmt: skip
        asked = [*headers, "Content-Type: application/json"]
        assert server.ask("POST", f"{BASE}/actions", asked, action)[0] == 403
    own = f"Origin: http://127.0.0.1:{server.port}"
    assert server.ask("POST", f"{BASE}/actions", [own, "Content-Type: text/plain"], action)[0] == 415
    assert server.ask("POST", f"{BASE}/actions", [own], action, host="rebound.example")[0] == 403
    assert experiments.first.acted == []


def test_bodies_are_limited(shared_server, monkeypatch):
    kind = "Content-Type: application/json"
    for body in (b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000, b"{}" * 3):
        assert shared_server.ask("POST", "/api/login", [kind], body, token="")[0] in (400, 413)
    assert shared_server.ask("POST", "/api/login", [kind, "Content-Length: 99999999"], token="")[0] == 413
    assert shared_server.ask("POST", "/api/login", [kind, "Content-Length: -1"], token="")[0] == 400
    chunk = b"%x\r\n%s\r\n" % (65536, b" " * 65536)
    with shared_server.connect() as connection:
        head = f"POST /api/login HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode() + chunk)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
    monkeypatch.setattr(answers, "BODY_TIMEOUT_S", 0.05)
    with shared_server.connect() as connection:
        connection.sendall(
            f"POST /api/login HTTP/1.1\r\nHost: localhost\r\n{kind}\r\nContent-Length: 9\r\n\r\n{{".encode()
        )
        assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_heads_are_limited(server, serve, experiments, monkeypatch):
    assert server.exchange(b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)[:13] == b"HTTP/1.1 400 "
    assert server.exchange(b"nonsense\r\n\r\n")[:13] == b"HTTP/1.1 400 "
    assert server.exchange(b"GET / HTTP/1.1\r\n\r\n")[:13] == b"HTTP/1.1 400 "
    twice = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n"
    assert server.exchange(twice)[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 403 ")
    monkeypatch.setattr(service, "HEAD_TIMEOUT_S", 0.05)
    with serve(experiments) as quick:
        assert quick.exchange(b"GET / HTTP/1.1\r\n") == b""
        assert quick.exchange(b"") == b""
        first = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        assert quick.exchange(first + b"GET / HT").startswith(b"HTTP/1.1 200 ")
        connection, got = follow(quick, "/stream?from=5")
        with connection:
            assert next(got)[0] == "overview"
            assert quick.exchange(b"GET / HTTP/1.1\r\n") == b""
            experiments.first.grow()
            assert "rows" in {next(got)[0], next(got)[0]}
        assert quick.ask("GET", "/")[0] == 200


def test_clients_that_do_not_read_are_cut_off(serve, experiments, monkeypatch):
    monkeypatch.setattr(service, "HEAD_TIMEOUT_S", 0.05)
    monkeypatch.setattr(service, "STALL_S", 0.1)
    monkeypatch.setattr(experiments.first, "columns", lambda: b"x" * 30_000_000)
    lost, own = threading.Event(), service._Protocol.connection_lost
    monkeypatch.setattr(
        service._Protocol, "connection_lost", lambda self, error: (own(self, error), lost.set())[0]
    )
    with serve(experiments) as server, server.connect() as connection:
        head = f"Host: localhost\r\nAuthorization: Bearer {'t' * 43}\r\n\r\n"
        connection.sendall(f"GET /api/experiments/first/columns HTTP/1.1\r\n{head}".encode())
        assert lost.wait(20)


def test_a_stream_sends_what_changed(server, experiments):
    connection, got = follow(server, "/stream?from=5")
    with connection:
        name, n, data = next(got)
        assert (name, n) == ("overview", 5)
        assert json.loads(data)["value"] == "NaN"
        experiments.first.grow()
        changed = {name: (n, data) for name, n, data in (next(got), next(got))}
        assert changed["rows"][0] == 6
        assert json.loads(changed["overview"][1])["n"] == 6


def test_a_stream_resumes_where_the_page_was(server, experiments):
    connection, got = follow(server, "/stream?from=1", "Last-Event-ID: 3\r\n")
    with connection:
        named = {name: n for name, n, _ in (next(got), next(got))}
        assert named["rows"] == 5
    for path in ("/stream?from=99", "/stream?from=1&journal=other"):
        connection, got = follow(server, path)
        with connection:
            assert [name for name, _, _ in got][-1] == "reload"


def test_a_stream_tells_of_a_deleted_experiment(server, experiments, monkeypatch):
    monkeypatch.setattr(stream, "_AGAIN_S", 0.01)
    connection, got = follow(server, "/stream?from=5")
    with connection:
        assert next(got)[0] == "overview"
        experiments.first.error = KeyError("there is no experiment first")
        experiments.first.grow()
        name, _, data = next(got)
        assert (name, json.loads(data)) == ("problem", {"error": "there is no experiment first"})
        experiments.first.error = None
        assert json.loads(next(one for one in got if one[0] == "problem")[2]) is None


def test_silent_streams_send_comments(server, monkeypatch):
    monkeypatch.setattr(stream, "COMMENT_EVERY_S", 0.01)
    connection, _ = follow(server, "/stream?from=5")
    with connection:
        data = b""
        while b"\n: \n\n" not in data:
            data += connection.recv(65536)


def test_fifty_streams_and_busy_readers_do_not_block_others(server, experiments):
    streams = [follow(server, "/stream?from=5") for _ in range(50)]
    experiments.first.gate = threading.Event()
    slow = [server.connect() for _ in range(answers.READERS)]
    try:
        for connection in slow:
            connection.sendall(
                f"GET {BASE}/columns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {'t' * 43}\r\n\r\n".encode()
            )
        for _, got in streams:
            assert next(got)[0] == "overview"
        assert server.json("GET", "/api/me")[0] == 200
        experiments.first.grow()
        for _, got in streams:
            assert "rows" in {next(got)[0], next(got)[0]}
        experiments.first.gate.set()
        for connection in slow:
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        assert server.json("GET", f"{BASE}/overview")[0] == 200
    finally:
        experiments.first.gate.set()
        for connection in (*slow, *(one for one, _ in streams)):
            connection.close()


def test_the_end_closes_open_streams(serve, experiments):
    with serve(experiments) as server:
        connection, got = follow(server, "/stream?from=5")
        assert next(got)[0] == "overview"
    with connection:
        assert list(got) == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)


def test_a_life_ends_after_the_last_run_and_the_last_look():
    now, is_running = [0.0], [True]
    life = Life(lambda: is_running[0], idle_s=10, clock=lambda: now[0])
    seen = []
    for now[0] in (9, 10, 19, 20, 29):
        seen.append(life.is_over())
    assert seen == [False] * 5
    is_running[0] = False
    now[0] = 30
    assert life.is_over()
    life.use()
    assert not life.is_over()
    now[0] = 40
    assert life.is_over()
