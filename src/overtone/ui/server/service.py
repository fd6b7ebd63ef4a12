"""Serves a dashboard until it is told to end, or nobody uses it."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from overtone.ui.server.life import LOOK_S, Life

if TYPE_CHECKING:
    from overtone.ui.server.app import Dashboard

MOST_CONNECTIONS = 500
"""Most connections at a time; more are answered with 503."""

HEAD_TIMEOUT_S = 10.0
"""Seconds in which the head of a request must have come; twice as many after an earlier request."""

STALL_S = 60.0
"""Seconds after which a connection is closed whose client reads nothing of an answer."""

_MOST_HEAD_BYTES = 32_768
_SHUTDOWN_S = 2


class _Protocol(H11Protocol):
    """HTTP/1.1 that closes connections without a complete request, and those whose client does not read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._last_request: object = None
        self._unread, self._read_at = 0, self.loop.time()
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _look_later(self) -> None:
        self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self._look)

    def _look(self) -> None:
        unread, now = self.transport.get_write_buffer_size(), self.loop.time()
        if not unread or unread != self._unread:
            self._unread, self._read_at = unread, now
        elif now - self._read_at >= STALL_S:
            self.transport.abort()
            return
        is_answered = self.cycle is None or self.cycle.response_complete
        if is_answered and self.cycle is self._last_request:
            self.transport.close()
        else:
            self._last_request = self.cycle
        self._look_later()


class Service(uvicorn.Server):
    """The server of one dashboard.

    Args:
        dashboard: What is served.
        on_started: Called when connections are accepted.
        life: Decides when a server ends that nobody uses; None for never.
    """

    def __init__(
        self, dashboard: Dashboard, on_started: Callable[[], Any] = lambda: None, life: Life | None = None
    ) -> None:
        self._dashboard, self._on_started, self._life = dashboard, on_started, life
        self._n_seen = 0
        super().__init__(
            uvicorn.Config(
                dashboard.app,
                http=_Protocol,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=_SHUTDOWN_S,
                h11_max_incomplete_event_size=_MOST_HEAD_BYTES,
                callback_notify=None if life is None else self._look,
                timeout_notify=int(LOOK_S),
            )
        )
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # Clients' mistakes, and the shutdown.

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, and then the connections."""
        self._dashboard.streams.close()
        await super().shutdown(sockets)

    async def _look(self) -> None:
        """End if nobody used the server for long."""
        assert self._life is not None
        is_over = await anyio.to_thread.run_sync(self._life.is_over, abandon_on_cancel=True)
        if self._dashboard.streams.n_open or self.server_state.total_requests != self._n_seen:
            self._n_seen = self.server_state.total_requests
            self._life.use()
        elif is_over:
            self.should_exit = True


def serve(
    dashboard: Dashboard, listener: socket.socket, on_started: Callable[[], Any], life: Life | None = None
) -> None:
    """Serve until SIGINT or SIGTERM, or until the end of `life`.

    Raises:
        KeyboardInterrupt: At SIGINT, once all connections are closed.
    """
    Service(dashboard, on_started, life).run(sockets=[listener])
