"""Notices of clouds: which server is asked, and what its answers mean."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from overtone.engines.ray import preemption

VARIABLES = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "AWS_EC2_METADATA_DISABLED", "GCE_METADATA_HOST")


class Metadata(BaseHTTPRequestHandler):
    """A server that gives out tokens 1, 2, ..., of which the newest is valid, and one answer."""

    def do_PUT(self) -> None:
        self.server.tokens += 1  # type: ignore[attr-defined]
        self._answer(200, str(self.server.tokens))  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        is_aws = "X-aws-ec2-metadata-token" in self.headers
        if is_aws and self.headers["X-aws-ec2-metadata-token"] != str(self.server.tokens):  # type: ignore[attr-defined]
            self._answer(401, "")
        else:
            self._answer(*self.server.answer)  # type: ignore[attr-defined]

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *given: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Metadata)
    made.tokens, made.answer = 0, (404, "")
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_aws_tells_when_the_machine_ends(server: Any) -> None:
    cloud = preemption.Aws(f"http://127.0.0.1:{server.server_port}/")
    assert cloud.ends_at() is None
    server.answer = (200, '{"action": "terminate", "time": "2026-11-23T18:00:00Z"}')
    assert cloud.ends_at() == 1795456800.0
    assert server.tokens == 1


def test_a_token_that_expired_is_renewed(server: Any) -> None:
    cloud = preemption.Aws(f"http://127.0.0.1:{server.server_port}")
    cloud.ends_at()
    server.tokens += 1  # the machine slept
    server.answer = (200, '{"action": "stop", "time": "2026-11-23T18:00:00Z"}')
    assert cloud.ends_at() is None
    assert cloud.ends_at() == 1795456800.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"time": "soon"}', '{"time": 5}', "\x00"])
def test_a_notice_without_a_time_is_one(server: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(preemption.time, "time", lambda: 1000.0)
    server.answer = (200, text)
    assert preemption.Aws(f"http://127.0.0.1:{server.server_port}").ends_at() == 1120.0


@pytest.mark.parametrize(
    ("answer", "ends_at"),
    [((200, "FALSE"), None), ((200, "TRUE\n"), 1030.0), ((404, "TRUE"), None), ((200, ""), None)],
)
def test_google_tells_that_the_machine_ends(
    server: Any, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, str], ends_at: float | None
) -> None:
    monkeypatch.setattr(preemption.time, "time", lambda: 1000.0)
    server.answer = answer
    assert preemption.Google(f"127.0.0.1:{server.server_port}").ends_at() == ends_at


def test_a_server_that_is_not_there_is_an_os_error(server: Any) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(OSError, match=r"refused"):
        preemption.Google(f"127.0.0.1:{server.server_port}").ends_at()


@pytest.mark.parametrize(
    ("maker", "variables", "kind"),
    [
        ("Dell Inc.", {}, None),
        ("Amazon EC2", {}, preemption.Aws),
        ("Amazon EC2", {"AWS_EC2_METADATA_DISABLED": "true"}, None),
        ("Google Compute Engine", {}, preemption.Google),
        ("", {"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"}, preemption.Aws),
        ("", {"GCE_METADATA_HOST": "127.0.0.1:1"}, preemption.Google),
    ],
)
def test_the_firmware_or_the_environment_tells_the_cloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: str, variables: dict[str, str], kind: Any
) -> None:
    monkeypatch.setattr(preemption, "_DMI", tmp_path)
    (tmp_path / "product_name").write_text(f"{maker}\n")
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    cloud = preemption.cloud_here()
    assert cloud is None if kind is None else isinstance(cloud, kind)


class Announced:
    """A cloud that has announced an end; its server does not answer at first."""

    def __init__(self) -> None:
        self.asked = 0

    def ends_at(self) -> float | None:
        self.asked += 1
        if self.asked == 1:
            raise OSError("not yet")
        return None if self.asked == 2 else 4e9


def test_a_node_is_drained_once_also_after_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preemption, "POLL_S", 0.0)
    monkeypatch.setattr(preemption, "AGAIN_S", 0.0)
    drained, is_done = [], threading.Event()

    def drain(ends_at: float) -> None:
        drained.append(ends_at)
        if len(drained) < 3:
            raise RuntimeError("the head restarts")
        is_done.set()

    watch = preemption.Watch(Announced(), drain)
    watch.start()
    assert is_done.wait(60)
    watch._thread.join(60)
    assert drained == [4e9] * 3
