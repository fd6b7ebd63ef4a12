"""The seam between the launcher and a Kubernetes API, and the errors of both its sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, Any, Protocol

from overtone.cluster.remote import Finished
from overtone.errors import OvertoneError

REQUEST_S = 30.0
"""Seconds that the API has to answer one request."""

PASSING = frozenset(
    {"Unreachable", "TooManyRequests", "InternalError", "ServiceUnavailable", "ServerTimeout", "Timeout"}
)
"""Reasons of errors after which the same request may succeed."""

REASONS: Mapping[int, str] = {
    400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict",
    422: "Invalid", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout",
}  # fmt: skip


class KubernetesError(OvertoneError):
    """Kubernetes refused a request, or did not answer.

    Attributes:
        reason: Kubernetes' word, such as "Forbidden" or "NotFound"; "Unreachable" if there was no answer; ""
            if there is none.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class Transport(Protocol):
    """Access to Kubernetes: requests with JSON, and programs and ports of pods."""

    def default_namespace(self) -> str:
        """Return the namespace of the context, or "default"."""
        ...

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Return the answer to a request.

        Args:
            method: "GET", "POST", "PUT" or "DELETE".
            path: With its query, such as "/api/v1/namespaces/default/pods?limit=10".
            body: The object that is sent as JSON.

        Raises:
            KubernetesError: There is no answer within `REQUEST_S`, or it is an error.
        """
        ...

    def exec(
        self,
        pod: Pod,
        words: Sequence[str],
        input: IO[bytes] | None,
        output: IO[bytes] | None,
        timeout_s: float,
    ) -> Finished:
        """Run a program in a pod to its end.

        Args:
            input: What the program reads; None for nothing.
            output: Where its output goes; None to return it.
            timeout_s: After so long, the connection ends, and the status is 124.

        Raises:
            KubernetesError: The pod cannot be reached.
        """
        ...

    def stream(self, pod: Pod, words: Sequence[str], on_output: Callable[[bytes], None]) -> int:
        """Run a program in a pod, pass on what it prints as it comes, and return its status."""
        ...

    def forward(self, pod: Pod, port: int) -> AbstractContextManager[int]:
        """Return a port of this machine's loopback that leads to the pod's during the block."""
        ...

    def terminal(self, pod: Pod, words: Sequence[str]) -> int:
        """Run a program in a pod on this terminal, and return its status."""
        ...


class Pod:
    """A container of a pod, for programs and ports.

    Args:
        namespace: Its namespace.
        name: The pod.
        container: The container.
    """

    def __init__(self, namespace: str, name: str, container: str) -> None:
        self.namespace, self.name, self.container = namespace, name, container
