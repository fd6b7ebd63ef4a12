"""Patience with Ray: on a slow machine, a node's processes start later than Ray waits for them."""

from __future__ import annotations

import functools
import inspect
import random
import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

ATTEMPTS = 6
AGENT_PORTS = (
    "metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port",
)  # fmt: skip


def patiently(start: Callable[[], Any]) -> Any:
    """Start a node, again as often as it takes longer than the 30 s that Ray waits."""
    name_ports_of_agents()
    for _ in range(ATTEMPTS - 1):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start()


def name_ports_of_agents() -> None:
    """Have nodes that this process starts know their agents' ports.

    A raylet waits 15 s for files with the ports that its agents have chosen, and ends if one is late.
    """
    from ray._private import services

    plain = services.start_raylet
    if hasattr(plain, "__wrapped__"):
        return

    @functools.wraps(plain)
    def start_raylet(*given: Any, **options: Any) -> Any:
        call = inspect.signature(plain).bind(*given, **options)
        for name, port in zip(AGENT_PORTS, _free_ports(len(AGENT_PORTS)), strict=True):
            call.arguments[name] = call.arguments.get(name) or port
            file = Path(call.arguments["session_dir"], f"{name}_{call.arguments['node_id']}")
            file.write_text(str(call.arguments[name]))
        return plain(*call.args, **call.kwargs)

    services.start_raylet = start_raylet


def _free_ports(count: int) -> list[int]:
    """Return ports that the system gives to no connection meanwhile, and Ray to no worker."""
    with ExitStack() as stack:
        found: list[int] = []
        while len(found) < count:
            port = random.SystemRandom().randrange(20_000, 32_000)
            with suppress(OSError):
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
                found.append(port)
        return found
