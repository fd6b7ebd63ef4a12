"""An S3 server on the loopback, for tests that keep results there."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest


class Server:
    """An S3 server that can go away, and comes back with all that it had."""

    def __init__(self) -> None:
        self.port = 0

    def start(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()
        self.port = self._server.get_host_and_port()[1]

    def stop(self) -> None:
        self._server.stop()
        self._server._server.server_close()  # else those who call wait instead of being refused


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()  # clients that another module made have its server's address
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    with pytest.MonkeyPatch.context() as patch:
        one = Server()
        one.start()
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{one.port}")
        for name, value in (
            ("ACCESS_KEY_ID", "x"),
            ("SECRET_ACCESS_KEY", "y"),
            ("DEFAULT_REGION", "us-east-1"),
        ):
            patch.setenv(f"AWS_{name}", value)
        yield one
        one.stop()


@pytest.fixture
def url(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    import s3fs

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    bucket = tmp_path.name.replace("_", "-").lower()[:60].strip("-")
    s3fs.S3FileSystem().mkdir(bucket)
    return f"s3://{bucket}/results"
