"""Notices of a cloud that takes a spot machine away: the node is drained, so that its trials save.

The notice is read from the machine's metadata server: `spot/instance-action` on AWS, two minutes
before the end, and `preempted` on Google Cloud, 30 seconds before. Other machines have no server,
and are recognised without a connection.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

POLL_S = 5.0
ANSWER_S = 2.0
"""Seconds that a metadata server gets to answer; it is on the same machine."""

GOOGLE_NOTICE_S = 30.0
"""Seconds between Google Cloud's notice and the end of the machine."""

AWS_NOTICE_S = 120.0
"""The same on AWS, for a notice without a readable time."""

AGAIN_S, LATE_S = 1.0, 60.0
"""Seconds between two tries to drain the node, and after the machine's end until the last one."""

TOKEN_LIFE_S = 21600
MOST_BYTES = 65536

_DMI = Path("/sys/class/dmi/id")
_ON = ("1", "true", "yes")


class Cloud(Protocol):
    """A cloud's metadata server."""

    def ends_at(self) -> float | None:
        """Return when this machine ends, in seconds since 1970; None without a notice.

        Raises:
            OSError: The server does not answer.
        """


class Aws:
    """The metadata server of an EC2 instance, version 2.

    Args:
        url: Address of the server.
    """

    def __init__(self, url: str = "http://169.254.169.254") -> None:
        self._url, self._token, self._fresh_until = url, "", 0.0

    def ends_at(self) -> float | None:
        if time.monotonic() >= self._fresh_until:
            self._renew()
        header = {"X-aws-ec2-metadata-token": self._token}
        status, text = _ask(self._url, "GET", "/latest/meta-data/spot/instance-action", header)
        if status == 401:  # the token has expired, for example while the machine slept
            self._fresh_until = 0.0
        return _aws_time(text) if status == 200 else None

    def _renew(self) -> None:
        asked = {"X-aws-ec2-metadata-token-ttl-seconds": str(TOKEN_LIFE_S)}
        status, text = _ask(self._url, "PUT", "/latest/api/token", asked)
        if status != 200:
            raise OSError(f"the metadata server gives no token: status {status}")
        self._token, self._fresh_until = text, time.monotonic() + TOKEN_LIFE_S / 2


class Google:
    """The metadata server of a Compute Engine instance.

    Args:
        host: Host and port of the server.
    """

    def __init__(self, host: str = "metadata.google.internal") -> None:
        self._url = f"http://{host}"

    def ends_at(self) -> float | None:
        path, header = "/computeMetadata/v1/instance/preempted", {"Metadata-Flavor": "Google"}
        status, text = _ask(self._url, "GET", path, header)
        return time.time() + GOOGLE_NOTICE_S if status == 200 and text.strip() == "TRUE" else None


def _ask(url: str, method: str, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """Return status and text of an answer; proxies of the environment are not asked.

    Raises:
        OSError: The server does not answer.
    """
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=ANSWER_S)
    try:
        connection.request(method, f"{parts.path.rstrip('/')}{path}", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(MOST_BYTES).decode("utf-8", "replace")
    except HTTPException as error:
        raise OSError(f"{url} does not answer as a metadata server: {error}") from error
    finally:
        connection.close()


def _aws_time(text: str) -> float | None:
    """Return the time in a notice such as {"action": "terminate", "time": "2026-11-23T18:00:00Z"}."""
    try:
        notice = json.loads(text)
        at = datetime.strptime(notice["time"], "%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, KeyError, TypeError):
        return time.time() + AWS_NOTICE_S
    return at.replace(tzinfo=timezone.utc).timestamp()


def cloud_here() -> Cloud | None:
    """Return the cloud that this machine belongs to; None for any other machine.

    `AWS_EC2_METADATA_SERVICE_ENDPOINT` and `GCE_METADATA_HOST` name other servers, and
    `AWS_EC2_METADATA_DISABLED=true` switches AWS off, as for the clouds' own libraries.
    """
    maker = f"{_dmi('sys_vendor')} {_dmi('product_name')} {_dmi('bios_vendor')}"
    endpoint, host = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT"), os.environ.get("GCE_METADATA_HOST")
    is_off = os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() in _ON
    if not is_off and (endpoint or "Amazon EC2" in maker):
        return Aws(endpoint) if endpoint else Aws()
    if host or "Google Compute Engine" in maker:
        return Google(host) if host else Google()
    return None


def _dmi(name: str) -> str:
    try:
        return (_DMI / name).read_text().strip()
    except OSError:
        return ""


class Watch:
    """A thread that waits for the cloud's notice and drains this node.

    Args:
        cloud: The cloud's metadata server.
        drain: Drains this node; takes the time of its end, in seconds since 1970.
    """

    def __init__(self, cloud: Cloud, drain: Callable[[float], None]) -> None:
        self._cloud, self._drain = cloud, drain
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="overtone-preemption", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stop.set()

    def _run(self) -> None:
        ends_at = None
        while ends_at is None:
            with suppress(OSError):  # asked again soon
                ends_at = self._cloud.ends_at()
            if ends_at is None and self._stop.wait(POLL_S):
                return
        while not self._stop.is_set() and time.time() < ends_at + LATE_S:
            try:
                self._drain(ends_at)
            except Exception:  # the head may be restarting
                self._stop.wait(AGAIN_S)
            else:
                return


@contextmanager
def watched() -> Iterator[None]:
    """Drain this process's node once its cloud announces the end of the machine, during the block."""
    cloud = cloud_here()
    if cloud is None:
        yield
        return
    watch = Watch(cloud, drain_this_node)
    watch.start()
    try:
        yield
    finally:
        watch.stop()


def drain_this_node(ends_at: float) -> None:
    """Tell Ray that this process's node ends soon: see `drains`.

    Args:
        ends_at: When it ends, in seconds since 1970.

    Raises:
        Exception: Ray does not answer, or does not accept it.
    """
    import ray
    from ray._raylet import GcsClient
    from ray.core.generated import autoscaler_pb2

    context = ray.get_runtime_context()
    reason = autoscaler_pb2.DrainNodeReason.Value("DRAIN_NODE_REASON_PREEMPTION")
    # Ray drops a deadline in the past
    deadline_ms = int(1000 * max(ends_at, time.time() + 1.0))
    is_accepted, why = GcsClient(context.gcs_address).drain_node(
        context.get_node_id(), reason, "the cloud takes this spot machine away", deadline_ms
    )
    if not is_accepted:
        raise RuntimeError(f"Ray does not drain this node: {why}")
