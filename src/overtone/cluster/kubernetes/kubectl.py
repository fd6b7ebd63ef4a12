"""Kubernetes by the program `kubectl`."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from overtone.cluster.kubernetes.transport import REQUEST_S, KubernetesError, Pod
from overtone.cluster.remote import Finished

_REASON = re.compile(r"Error from server \((\w+)\)|\((Unauthorized)\)")
_STATUS = re.compile(rb"command terminated with (?:non-zero )?exit (?:code|status) (\d+)\s*$")
_LOST = ("Unable to connect", "connection refused", "The connection to the server", "i/o timeout", "EOF",
         "TLS handshake timeout", "no such host", "connection reset", "context deadline exceeded",
         "network is unreachable")  # fmt: skip
_RAW = {"GET": "get", "POST": "create", "PUT": "replace", "DELETE": "delete"}


class Kubectl:
    """Kubernetes by `kubectl`; each call is a process with a time limit.

    Args:
        program: The path of kubectl.
        kubeconfig: The file; None for kubectl's own rule.
        context: The context; None for the current one.
    """

    def __init__(self, program: str, kubeconfig: str | None, context: str | None) -> None:
        self._words = [program]
        self._words += ["--kubeconfig", kubeconfig] if kubeconfig else []
        self._words += ["--context", context] if context else []

    def default_namespace(self) -> str:
        """Return the namespace of the context, or "default"."""
        done = self._run(
            ["config", "view", "--minify", "--output", "jsonpath={..namespace}"], None, REQUEST_S
        )
        return done.decode().strip() or "default"

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Return the answer to a request; see `Transport`."""
        words = [_RAW[method], "--raw", path, f"--request-timeout={REQUEST_S:g}s"]
        data = None if body is None else json.dumps(body).encode()  # by a pipe: it may be a Secret
        return self._run([*words, *(["--filename", "-"] if data is not None else [])], data, REQUEST_S + 5)

    def exec(
        self,
        pod: Pod,
        words: Sequence[str],
        input: IO[bytes] | None,
        output: IO[bytes] | None,
        timeout_s: float,
    ) -> Finished:
        """Run a program in a pod to its end; see `Transport`."""
        process = self._start(self._exec(pod, words, ["-i"] if input else []), input, output)
        copying = _feed(process, input) if input is not None else None
        try:
            # not communicate(): the copying thread owns the input
            printed, errors = _outcome(process, timeout_s + REQUEST_S)
        except subprocess.TimeoutExpired:
            return Finished(124, b"", b"")
        finally:
            _end(process)
            if copying is not None:
                copying.join()
        return _finished(process.returncode, printed, errors)

    def stream(self, pod: Pod, words: Sequence[str], on_output: Callable[[bytes], None]) -> int:
        """Run a program in a pod, pass on what it prints as it comes, and return its status."""
        process = self._start(self._exec(pod, words, []), None, None)
        assert process.stdout is not None
        errors = _Reader(process.stderr)
        try:
            while data := process.stdout.read1(65536):  # type: ignore[attr-defined]
                on_output(data)
            process.wait()
        finally:
            _end(process)
        return _finished(process.returncode, b"", errors.all()).status

    @contextmanager
    def forward(self, pod: Pod, port: int) -> Iterator[int]:
        """Return a port of this machine's loopback that leads to the pod's during the block."""
        words = [
            "port-forward",
            "--address",
            "127.0.0.1",
            "--namespace",
            pod.namespace,
            f"pod/{pod.name}",
            f":{port}",
        ]
        process = self._start(words, None, None)
        assert process.stdout is not None
        timer = threading.Timer(REQUEST_S, process.kill)
        timer.start()
        try:
            line = process.stdout.readline().decode()
            timer.cancel()
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if not found:
                assert process.stderr is not None
                raise _error(process.stderr.read().decode(errors="replace"), "port-forward")
            yield int(found[1])
        finally:
            timer.cancel()
            _end(process)

    def terminal(self, pod: Pod, words: Sequence[str]) -> int:
        """Run a program in a pod on this terminal, and return its status."""
        return subprocess.run([*self._words, *self._exec(pod, words, ["-i", "-t"])], check=False).returncode

    def _exec(self, pod: Pod, words: Sequence[str], options: Sequence[str]) -> list[str]:
        place = ["--namespace", pod.namespace, pod.name, "--container", pod.container]
        return ["exec", *options, *place, "--", *words]

    def _run(self, words: Sequence[str], data: bytes | None, timeout_s: float) -> bytes:
        process = self._start(words, data, None)
        try:
            output, errors = process.communicate(data, timeout_s)
        except subprocess.TimeoutExpired:
            raise KubernetesError(
                f"kubectl {words[0]}: no answer within {timeout_s:.0f} s", "Unreachable"
            ) from None
        finally:
            _end(process)
        if process.returncode:
            raise _error(errors.decode(errors="replace"), words[0])
        return output

    def _start(
        self, words: Sequence[str], input: object, output: IO[bytes] | None
    ) -> subprocess.Popen[bytes]:
        # a session of its own: Ctrl-C ends the launcher's step, which then ends kubectl
        return subprocess.Popen(
            [*self._words, *words],
            stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


class _Reader:
    """Reads a pipe to its end in a thread, so that the other pipe cannot block."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._read, args=(pipe,), daemon=True)
        self._thread.start()

    def _read(self, pipe: IO[bytes] | None) -> None:
        with suppress(OSError, ValueError):
            while pipe is not None and (data := pipe.read(65536)):
                self._parts.append(data)

    def all(self) -> bytes:
        self._thread.join(5)
        return b"".join(self._parts)


def _feed(process: subprocess.Popen[bytes], source: IO[bytes]) -> threading.Thread:
    def copy() -> None:
        assert process.stdin is not None
        with suppress(OSError, ValueError):  # the program ended before its input did
            while data := source.read(1 << 16):
                process.stdin.write(data)
        with suppress(OSError, ValueError):
            process.stdin.close()

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return thread


def _outcome(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[bytes, bytes]:
    output, errors = _Reader(process.stdout), _Reader(process.stderr)
    process.wait(timeout_s)
    return output.all(), errors.all()


def _finished(status: int, output: bytes, errors: bytes) -> Finished:
    """Return how a program in a pod ended.

    Raises:
        KubernetesError: kubectl failed, not the program.
    """
    if status == 0:
        return Finished(0, output, errors)
    found = _STATUS.search(errors)
    if not found:
        raise _error(errors.decode(errors="replace"), "exec")
    return Finished(int(found[1]), output, errors[: found.start()])


def _error(said: str, what: str) -> KubernetesError:
    lines = [line for line in said.strip().splitlines() if line.strip()]
    last = lines[-1] if lines else "it ended without a message"
    found = _REASON.search(said)
    reason = (found[1] or found[2]) if found else ""
    if not reason and any(sign in said for sign in _LOST):
        reason = "Unreachable"
    return KubernetesError(f"kubectl {what}: {last}", reason)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
