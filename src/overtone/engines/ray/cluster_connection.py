"""This process's connection to a Ray cluster."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from overtone.errors import MissingPackageError, OvertoneError

_connecting = threading.Lock()
"""Lock for connecting: other runs of this process may start at the same time."""

ANSWERS_WITHIN_S = 5.0
"""Seconds to try the address of a cluster before giving up; Ray itself tries for minutes."""


NODE_WITHIN_S = 3.0
"""Seconds to look for a node of the cluster on this machine; Ray itself looks for a minute."""


def is_connected() -> bool:
    """Return whether this process is connected to a cluster; other calls of Ray would start a cluster."""
    import ray

    return bool(ray.is_initialized())


def job_id() -> str:
    """Return Ray's job id of this process; "" if the process is not connected to a cluster."""
    import ray

    return str(ray.get_runtime_context().get_job_id()) if ray.is_initialized() else ""


def head_address() -> str:
    """Return the address of the head of this process's cluster."""
    import ray

    return str(ray.get_runtime_context().gcs_address)


def connect(address: str | None = None, runtime_env: Mapping[str, Any] | None = None) -> None:
    """Connect this process to a cluster as a driver.

    Uses the current connection if there is one, otherwise the cluster at `address` or RAY_ADDRESS.
    Without either, Ray finds or starts a cluster on this machine.

    Args:
        address: Address of the cluster; by default that of RAY_ADDRESS.
        runtime_env: Environment of this process's workers; {} and None mean no environment.

    Raises:
        MissingPackageError: Ray is not installed.
        OvertoneError: The cluster cannot be reached; the message says what to do.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingPackageError("ray", "ray", 'engine="ray"') from error
    if not hasattr(ray, "init"):  # a folder named "ray", imported as a namespace package
        raise MissingPackageError("ray", "ray", 'engine="ray"')
    with _connecting, _kept_sigterm():
        _connect(address, runtime_env)


@contextmanager
def _kept_sigterm() -> Iterator[None]:
    """Keep this process's handler of SIGTERM: Ray's own ends a run before its trials have saved."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and handler not in (None, signal.SIG_DFL):
            signal.signal(signal.SIGTERM, handler)


def _connect(address: str | None, runtime_env: Mapping[str, Any] | None) -> None:
    import ray

    if ray.util.client.ray.is_connected():
        raise OvertoneError(
            f"Ray Client (ray://) only passes calls on, and nodes could not call back. {_ON_A_NODE}"
        )
    if ray.is_initialized():
        if runtime_env:
            raise OvertoneError(
                "Ray is initialised in this process already, with its runtime_env: give it there, "
                f"ray.init(runtime_env={dict(runtime_env)!r})"
            )
        return
    options: dict[str, Any] = {"logging_level": logging.WARNING}  # Overtone's own line says where a run is.
    if runtime_env:
        options["runtime_env"] = dict(runtime_env)
    asked = os.environ.get("RAY_ADDRESS") if address in (None, "auto") else address
    check_address(asked)
    try:
        try:
            _check_is_node(asked)
            ray.init(address=address, **options)
        except Exception as error:
            if not (_wants_token(error) and _show_token()):
                raise
            _check_is_node(asked)
            ray.init(address=address, **options)
    except Exception as error:
        raise OvertoneError(_advice(error, asked)) from error


_ON_A_NODE = (
    "Run the script on a node of the cluster, or hand it in: ray job submit --working-dir . -- python SCRIPT"
)


def check_address(address: str | None, within_s: float = ANSWERS_WITHIN_S) -> None:
    """Fail early if an address cannot be used, such as the `host:port` of a cluster that is gone.

    Raises:
        OvertoneError: The address is not that of a cluster, or no server listens there.
    """
    scheme, is_url, _ = (address or "").partition("://")
    if is_url:
        what = "Ray Client only passes calls on" if scheme == "ray" else "a dashboard takes jobs, not drivers"
        raise OvertoneError(f"a run cannot work through {address!r}: {what}. {_ON_A_NODE}")
    if address is None or not _is_host_and_port(address):
        return  # "auto", "local", or a form that only Ray can check
    host, _, port = address.rpartition(":")
    give_up_at = time.monotonic() + within_s
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), max(0.1, within_s)).close()
            return
        except OSError as error:
            if time.monotonic() > give_up_at or isinstance(error, socket.gaierror):
                raise OvertoneError(_advice(error, address)) from error
        time.sleep(min(0.2, within_s))  # it may be about to start


def _check_is_node(address: str | None) -> None:
    """Fail early if this machine is not a node of the cluster: Ray itself looks for a minute.

    Raises:
        RuntimeError: No node of the cluster runs here.
    """
    if not _is_host_and_port(address):
        return  # Ray finds such a cluster through the node that runs here
    try:
        from ray._private.services import get_node_to_connect_for_driver
        from ray._raylet import GcsClient
    except ImportError:
        return  # Another version of Ray: `ray.init` reports the same after a minute.
    try:
        get_node_to_connect_for_driver(GcsClient(address=address), timeout_seconds=NODE_WITHIN_S)
    except Exception as error:
        if (_is_no_node(error) and not _is_starting(address)) or _wants_token(error):
            raise
        # `ray.init` reports any other error better


def _is_starting(address: str | None) -> bool:
    """Return whether a head with this port, or a node that calls one, runs here: it may register soon."""
    import psutil

    port = (address or "").rpartition(":")[2]
    return any(
        process.info["name"] in ("raylet", "gcs_server")
        and any(one.endswith((f":{port}", f"={port}")) for one in process.info["cmdline"] or ())
        for process in psutil.process_iter(["name", "cmdline"])
    )


def _is_host_and_port(address: str | None) -> bool:
    host, _, port = (address or "").rpartition(":")
    return bool(host) and port.isdecimal()


def _advice(error: Exception, address: str | None) -> str:
    where = f"the Ray cluster at {address!r}" if address else "a Ray cluster"
    text = f"{where} cannot be used: {type(error).__name__}: {error}"
    if _wants_token(error):
        return (
            f"{text}\nThis cluster wants a token. Copy the head's ~/.ray/auth_token to this machine (only "
            "its owner may read it), or set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH, with RAY_AUTH_MODE=token."
        )
    if _is_no_node(error):
        return (
            f"{text}\nThe cluster answers, but this machine is not a node of it: first run here "
            f"`ray start --address={address or 'HOST:PORT'}`, or run the script on a node."
        )
    if any("Version mismatch" in one for one in _texts(error)):
        return f"{text}\nThe script needs the Ray and the Python of the nodes, to the last digit."
    if address:
        return (
            f'{text}\nStart the cluster (ray start --head), or unset RAY_ADDRESS, or use engine="local" '
            "for this machine alone."
        )
    return text


def _wants_token(error: BaseException) -> bool:
    """Return whether an error, or one of its causes, is a missing token."""
    return any("AuthToken" in text or "AuthenticationError" in text for text in _texts(error))


def _is_no_node(error: BaseException) -> bool:
    return any("No node info found" in text for text in _texts(error))


def _texts(error: BaseException | None) -> Iterator[str]:
    """Yield the texts of an error and of its causes."""
    while error is not None:
        yield f"{type(error).__name__}: {error}"
        error = error.__cause__ or error.__context__


def _show_token() -> bool:
    """Make Ray use this user's token; return whether there is a token that Ray did not use before.

    Ray itself uses the token only for a cluster that it starts.
    """
    has_one = os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = os.path.join(os.path.expanduser("~"), ".ray", "auth_token")
    if os.environ.get("RAY_AUTH_MODE") or not (has_one or os.path.exists(file)):
        return False
    os.environ["RAY_AUTH_MODE"] = "token"
    try:
        from ray._raylet import Config

        Config.initialize("")
    except Exception:
        return False  # another version of Ray, which reads the mode at import
    return True


def driver_node() -> tuple[str, str]:
    """Return (Ray's id, IP address) of the node of this process."""
    import ray

    node = ray.get_runtime_context().get_node_id()
    for one in ray.nodes():
        if one["NodeID"] == node:
            return node, one["NodeManagerAddress"]
    return node, ray.util.get_node_ip_address()
