"""A dashboard's server on a real port, in a thread, and experiments without files."""

import json
import socket
import threading
from contextlib import contextmanager

import pytest

TOKEN = "t" * 43


class Raw:
    """Sends bytes to a server as they are."""

    def __init__(self, port):
        self.port = port

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def exchange(self, data):
        """Send bytes, and return all that comes until the server closes the connection."""
        with self.connect() as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def ask(self, method, path, headers=(), body=b"", host=None, token=TOKEN, version="1.1"):
        """Return the status, the headers and the body of an answer."""
        lines = [f"{method} {path} HTTP/{version}", "Connection: close"]
        lines += [f"Host: 127.0.0.1:{self.port}" if host is None else f"Host: {host}"]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Content-Length: {len(body)}"] if body else []
        head = "\r\n".join([*lines, *headers, "", ""]).encode("latin-1")
        answer = self.exchange(head + body)
        head, _, content = answer.partition(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        fields = {}
        for line in rest:
            name, _, value = line.partition(": ")
            fields[name.lower()] = value
        return int(first.split()[1]), fields, content

    def json(self, method, path, document=None, headers=(), **options):
        """Return the status and the JSON of an answer."""
        body = b"" if document is None else json.dumps(document).encode()
        kind = ["Content-Type: application/json"] if body else []
        status, _, content = self.ask(method, path, [*kind, *headers], body, **options)
        return status, json.loads(content) if content else None


@contextmanager
def serving(experiments, **options):
    """Serve experiments during the block; gives a `Raw`."""
    from overtone.ui.server.addresses import listen
    from overtone.ui.server.app import dashboard
    from overtone.ui.server.assets import asset
    from overtone.ui.server.service import Service

    started = threading.Event()
    listener = listen(port=0)
    port = listener.getsockname()[1]
    page = {"/": asset(b"<!doctype html>", "text/html; charset=utf-8")}
    service = Service(dashboard(experiments, TOKEN, page, **options), started.set)
    thread = threading.Thread(target=service.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        assert started.wait(20)
        yield Raw(port)
    finally:
        service.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def experiments():
    return FakeExperiments()


@pytest.fixture
def serve():
    """Return `serving`."""
    return serving


@pytest.fixture
def server(experiments):
    with serving(experiments) as raw:
        yield raw


@pytest.fixture(scope="module")
def shared_server():
    """A server for tests that change nothing."""
    with serving(FakeExperiments()) as raw:
        yield raw


def message(n, rows=()):
    """A columns message with a header alone."""
    header = json.dumps({"n": n, "rows": list(rows)}).encode()
    header += b" " * (-(4 + len(header)) % 8)
    return len(header).to_bytes(4, "little") + header


class FakeExperiment:
    """An experiment with `n` records, which grows by `grow()`."""

    def __init__(self):
        self.n, self.news, self.problem = 5, threading.Condition(), ""
        self.acted, self.error, self.gate = [], None, None

    def grow(self):
        with self.news:
            self.n += 1
            self.news.notify_all()

    def overview(self):
        return {"id": "first", "n": self.n, "value": float("nan")}

    def columns(self):
        if self.gate is not None:
            self.gate.wait(30)
        return message(self.n)

    def update_since(self, n, journal=""):
        return None if n > self.n or journal == "other" else message(self.n, [n])

    def wait(self, n, timeout_s):
        if self.error is not None:
            raise self.error
        with self.news:
            self.news.wait_for(lambda: self.n != n or self.error is not None, timeout_s)
        return self.n

    def rows(self, rows):
        return {"n": self.n, "rows": [{"row": row} for row in rows]}

    def trial(self, id):
        if id != "t1":
            raise KeyError(f"there is no trial {id}")
        return {"trial_id": id}

    def curves(self, ids, metric=None, points=500):
        return {"metric": metric, "trials": ids, "points": points}

    def log(self, id, after=None, before=None):
        self.trial(id)
        return {"lines": [], "after": after, "before": before}

    def stack(self, id):
        return {"text": "stack"}

    def plot(self, name, **options):
        return message(0, sorted(options))

    def decisions(self, before=None, limit=100, trial=None):
        return {"before": before, "limit": limit, "trial": trial}

    def machines(self):
        return {"nodes": []}

    def act(self, verb, trial, args, request_id):
        if verb == "refused":
            from overtone.ui.data.actions import ActionError

            raise ActionError("not now", ("stop",))
        self.acted.append((verb, trial, args, request_id))
        return {"n": self.n, "text": "done"}


class FakeExperiments:
    """One experiment, `first`."""

    def __init__(self):
        self.first, self.folder = FakeExperiment(), "/results"

    def listing(self):
        return [{"id": "first", "state": "running"}]

    def get(self, exp):
        if exp != "first":
            raise KeyError(f"there is no experiment {exp}")
        return self.first

    def comparison(self, ids):
        return {"experiments": [{"id": one} for one in ids]}

    def close(self):
        pass
