"""The dashboard of a cluster's head, through a tunnel."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from shlex import quote
from urllib.parse import urlsplit

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head_python import python_command
from overtone.cluster.provider_modules import provider_of
from overtone.cluster.remote import RemoteError, last_lines
from overtone.cluster.state import State
from overtone.errors import OvertoneError

POLL_S = 5.0
"""Seconds between two looks whether the dashboard is still there."""

ANSWER_S = 20.0
"""Seconds that the dashboard has for an answer."""

_ADDRESS = re.compile(rb"http://127\.0\.0\.1:(\d+)/#token=(\S+)")


@contextmanager
def remote_dashboard(config: ClusterConfig) -> Iterator[str]:
    """Yield the address of the head's dashboard, which holds during the block.

    The server listens on the head's loopback alone. It ends 15 minutes after its last use, or with the
    cluster.

    Raises:
        OvertoneError: The cluster is not up, or its head has no dashboard.
        UnreachableError: The head does not answer.
    """
    state = State(config.name)
    if state.info().get("phase") != "up":
        raise OvertoneError(f"cluster {config.name} is not up: overtone up {quote(str(config.source))}")
    remote = provider_of(config).reach(config, state)
    mark = f"export OVERTONE_CLUSTER={config.name}"
    command = python_command("-m overtone ui --background")
    done = remote.run(f"{mark}; mkdir -p ~/overtone_results; {command}", timeout_s=60)
    found = _ADDRESS.search(done.output)
    if done.status or not found:
        raise RemoteError(
            f"{remote.name}: the dashboard does not start:{last_lines(done.output + done.errors, 5)}"
        )
    with remote.forward(int(found[1])) as port:
        yield f"http://127.0.0.1:{port}/#token={found[2].decode()}"


def wait_until_lost(address: str) -> None:
    """Return when the dashboard at an address does not answer any more: its tunnel, server or head is gone.

    A tunnel without the other end still takes connections, so each look waits for an answer.
    """
    while _answers(address) or _answers(address):
        time.sleep(POLL_S)


def _answers(address: str) -> bool:
    place = urlsplit(address)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=ANSWER_S)
    try:
        connection.request("HEAD", "/")
        connection.getresponse()
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    return True
