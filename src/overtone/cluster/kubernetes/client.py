"""Kubernetes by the package `kubernetes`, on machines without `kubectl`."""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import IO, Any

from overtone.cluster.kubernetes.transport import REASONS, REQUEST_S, KubernetesError, Pod
from overtone.cluster.remote import Finished
from overtone.errors import MissingPackageError

_CHUNK = 1 << 16


class Client:
    """Kubernetes by its Python package.

    Args:
        kubeconfig: The file; None for `KUBECONFIG`, or `~/.kube/config`.
        context: The context; None for the current one.

    Raises:
        MissingPackageError: The package is missing, and so is kubectl.
        KubernetesError: The kubeconfig is missing or wrong, or has no such context.
    """

    def __init__(self, kubeconfig: str | None, context: str | None) -> None:
        try:
            from kubernetes import client, config
        except ImportError:
            purpose = "a cluster on Kubernetes (without kubectl on the PATH)"
            raise MissingPackageError("kubernetes", "kubernetes", purpose) from None
        self._configuration = client.Configuration()
        try:
            config.load_kube_config(kubeconfig, context, self._configuration)
            contexts, active = config.list_kube_config_contexts(kubeconfig)
        except config.ConfigException as error:
            raise KubernetesError(f"the kubeconfig cannot be used: {error}") from None
        chosen = active if context is None else next(one for one in contexts if one["name"] == context)
        self._namespace = str(chosen["context"].get("namespace") or "default")
        self._configuration.retries = False  # `Objects` tries again
        self._api = client.ApiClient(self._configuration)

    def default_namespace(self) -> str:
        """Return the namespace of the context, or "default"."""
        return self._namespace

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Return the answer to a request; see `Transport`."""
        from kubernetes.client.exceptions import ApiException
        from urllib3.exceptions import HTTPError

        # No connection is kept: one that the server has closed meanwhile would cost an attempt.
        headers = {"Accept": "application/json", "Content-Type": "application/json", "Connection": "close"}
        for setting in self._configuration.auth_settings().values():
            headers[setting["key"]] = setting["value"]
        url, pool = f"{self._configuration.host}{path}", self._api.rest_client.pool_manager
        try:
            answer = pool.request(
                method,
                url,
                body=None if body is None else json.dumps(body).encode(),
                headers=headers,
                timeout=REQUEST_S,
                retries=False,
            )
        except (ApiException, HTTPError, OSError) as error:
            raise KubernetesError(
                f"{method} {self._configuration.host}: {_text(error)}", "Unreachable"
            ) from None
        finally:
            pool.clear()
        if answer.status >= 400:
            raise _refusal(answer.status, answer.data)
        return bytes(answer.data)

    def exec(
        self,
        pod: Pod,
        words: Sequence[str],
        input: IO[bytes] | None,
        output: IO[bytes] | None,
        timeout_s: float,
    ) -> Finished:
        """Run a program in a pod to its end; see `Transport`."""
        parts: list[bytes] = []
        errors: list[bytes] = []
        write = parts.append if output is None else output.write
        # No message says "end of input" before version 5 of the protocol: the program is told how much comes.
        data = b"" if input is None else input.read()
        counted = words if input is None else _counted(words, len(data))
        status = self._converse(pod, counted, data, write, errors.append, time.monotonic() + timeout_s)
        return Finished(status, b"".join(parts), b"".join(errors))

    def stream(self, pod: Pod, words: Sequence[str], on_output: Callable[[bytes], None]) -> int:
        """Run a program in a pod, pass on what it prints as it comes, and return its status."""
        return self._converse(pod, words, b"", on_output, lambda data: None, None)

    @contextmanager
    def forward(self, pod: Pod, port: int) -> Iterator[int]:
        """Return a port of this machine's loopback that leads to the pod's during the block."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = threading.Thread(target=self._accept, args=(server, pod, port), daemon=True)
            thread.start()
            try:
                yield int(server.getsockname()[1])
            finally:
                with suppress(OSError):
                    server.shutdown(socket.SHUT_RDWR)
                thread.join(2)

    def terminal(self, pod: Pod, words: Sequence[str]) -> int:
        """Refuse: a terminal needs kubectl."""
        raise KubernetesError("a terminal in a pod needs kubectl: https://kubernetes.io/docs/tasks/tools/")

    def _converse(
        self,
        pod: Pod,
        words: Sequence[str],
        data: bytes,
        on_output: Callable[[bytes], object],
        on_errors: Callable[[bytes], object],
        deadline: float | None,
    ) -> int:
        connection = self._connect(pod, words, has_input=bool(data))
        try:
            for start in range(0, len(data), _CHUNK):
                connection.write_channel(0, data[start : start + _CHUNK])
            while connection.is_open():
                if deadline is not None and time.monotonic() > deadline:
                    return 124
                connection.update(timeout=1)
                _drain(connection, on_output, on_errors)
            _drain(connection, on_output, on_errors)
            return _status(connection.read_channel(3), pod)
        finally:
            connection.close()
            connection.sock.shutdown()  # `close` leaves the socket open if the other side said goodbye first

    def _connect(self, pod: Pod, words: Sequence[str], has_input: bool) -> Any:
        from kubernetes import client, stream
        from kubernetes.client.exceptions import ApiException

        api = client.CoreV1Api(
            client.ApiClient(self._configuration)
        )  # `stream` changes the client that it gets
        try:
            return stream.stream(
                api.connect_get_namespaced_pod_exec,
                pod.name,
                pod.namespace,
                container=pod.container,
                command=list(words),
                stdin=has_input,
                stdout=True,
                stderr=True,
                tty=False,
                binary=True,
                _preload_content=False,
                _request_timeout=REQUEST_S,
            )
        except ApiException as error:
            raise KubernetesError(f"exec in pod {pod.name}: {error.reason}", "Unreachable") from None

    def _accept(self, server: socket.socket, pod: Pod, port: int) -> None:
        while True:
            try:
                here, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(here, pod, port), daemon=True).start()

    def _relay(self, here: socket.socket, pod: Pod, port: int) -> None:
        from kubernetes import client, stream
        from kubernetes.client.exceptions import ApiException

        api = client.CoreV1Api(client.ApiClient(self._configuration))
        with here, suppress(OSError, ApiException):
            forward = stream.portforward(
                api.connect_get_namespaced_pod_portforward, pod.name, pod.namespace, ports=str(port)
            )
            with closing(forward.socket(port)) as there:
                there.setblocking(True)
                _copy_both(here, there)


def _counted(words: Sequence[str], n_bytes: int) -> list[str]:
    """Return a command that gives the program exactly the first bytes of its input."""
    return ["sh", "-c", 'n=$1; shift; head -c "$n" | "$@"', "sh", str(n_bytes), *words]


def _drain(
    connection: Any, on_output: Callable[[bytes], object], on_errors: Callable[[bytes], object]
) -> None:
    for channel, take in ((1, on_output), (2, on_errors)):
        data = connection.read_channel(channel, timeout=0)
        if data:
            take(data if isinstance(data, bytes) else data.encode())


def _status(message: str | bytes, pod: Pod) -> int:
    """Return the exit status that the last message of the error channel tells.

    Raises:
        KubernetesError: The connection was lost, or the program could not be started.
    """
    if not message:
        raise KubernetesError(f"the connection to pod {pod.name} was lost", "Unreachable")
    answer = json.loads(message)
    if answer.get("status") == "Success":
        return 0
    for cause in (answer.get("details") or {}).get("causes") or []:
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise KubernetesError(f"exec in pod {pod.name}: {answer.get('message')}", str(answer.get("reason", "")))


def _refusal(status: int, data: bytes) -> KubernetesError:
    try:
        answer = json.loads(data)
        message, reason = str(answer["message"]), str(answer.get("reason") or REASONS.get(status, ""))
    except (ValueError, KeyError, TypeError):
        message, reason = data.decode(errors="replace").strip(), REASONS.get(status, "")
    if status == 404 and message == "404 page not found":
        message = "the server could not find the requested resource"
    return KubernetesError(f"Kubernetes answered {status}: {message}", reason)


def _text(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _copy_both(here: socket.socket, there: socket.socket) -> None:
    other = {here: there, there: here}
    while True:
        readable, _, _ = select.select(list(other), [], [])
        for one in readable:
            data = one.recv(_CHUNK)
            if not data:
                return
            other[one].sendall(data)
