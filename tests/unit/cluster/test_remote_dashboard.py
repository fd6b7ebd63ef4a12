"""The dashboard of a cluster's head: a command that shows it ends when it is gone."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from overtone.cluster import remote_dashboard


class _Page(BaseHTTPRequestHandler):
    asked = threading.Semaphore(0)

    def do_HEAD(self) -> None:
        self.send_response(403)  # Any answer counts: the login is not the question.
        self.end_headers()
        self.asked.release()

    def log_message(self, *_: object) -> None:
        pass


def waiting(address: str) -> threading.Thread:
    thread = threading.Thread(target=remote_dashboard.wait_until_lost, args=[address], daemon=True)
    thread.start()
    return thread


def test_it_waits_while_the_dashboard_answers_and_returns_when_it_is_gone(monkeypatch):
    monkeypatch.setattr(remote_dashboard, "POLL_S", 0.0)
    with HTTPServer(("127.0.0.1", 0), _Page) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        thread = waiting(f"http://127.0.0.1:{server.server_port}/")
        assert all(_Page.asked.acquire(timeout=60) for _ in range(3))
        assert thread.is_alive()
        server.shutdown()
        serving.join(60)
    thread.join(60)
    assert not thread.is_alive()


def test_a_tunnel_that_takes_connections_without_an_answer_is_lost(monkeypatch):
    monkeypatch.setattr(remote_dashboard, "ANSWER_S", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as dead:
        thread = waiting(f"http://127.0.0.1:{dead.getsockname()[1]}/")
        thread.join(60)
        assert not thread.is_alive()
