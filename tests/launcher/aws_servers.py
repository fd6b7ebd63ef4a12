"""AWS on this machine: moto's server, behind a proxy that records requests and breaks some of them."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REGION = "eu-west-1"
MACHINE_TYPES = ("g5.xlarge", "m5.large", "m6i.large")

ERRORS = {"RequestLimitExceeded": 503, "InsufficientInstanceCapacity": 500}
"""The HTTP status of errors; others have 400."""


@dataclass
class Request:
    """A request to AWS: its action, such as "RunInstances", and its parameters."""

    action: str
    parameters: dict[str, str]


@dataclass
class Fault:
    """What happens to requests with an action.

    Attributes:
        action: Such as "RunInstances".
        code: The error that AWS answers with; "" to pass the request on.
        times: How often.
        applies: Which requests; default all with the action.
        change: Changes the parameters of a request that is passed on.
        after: Called once the request was answered by moto, before the client gets the answer.
    """

    action: str
    code: str = ""
    times: int = 1_000_000
    applies: Callable[[dict[str, str]], bool] = lambda parameters: True
    change: Callable[[dict[str, str]], dict[str, str]] = lambda parameters: parameters
    after: Callable[[], None] = lambda: None


@dataclass
class Aws:
    """A fake AWS.

    Attributes:
        url: Its address, for AWS_ENDPOINT_URL.
        moto_url: The address of moto itself.
        requests: The requests so far.
        faults: What breaks; the first that applies counts.
    """

    url: str
    moto_url: str = ""
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def actions(self) -> list[str]:
        """Return the actions of the requests so far."""
        return [request.action for request in self.requests]

    def take_fault(self, request: Request) -> Fault | None:
        """Return what happens to a request, and count it."""
        with self._lock:
            for fault in self.faults:
                if fault.action == request.action and fault.times and fault.applies(request.parameters):
                    fault.times -= 1
                    return fault
            return None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()


@contextmanager
def aws_server() -> Iterator[Aws]:
    """Run moto's server and the proxy before it during the block."""
    from moto.server import ThreadedMotoServer

    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    aws = Aws("", f"http://{host}:{port}")
    handler = type("Handler", (_Handler,), {"aws": aws, "moto": (host, port)})
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    aws.url = f"http://127.0.0.1:{proxy.server_port}"
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield aws
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
        moto.stop()


def _for_moto(parameters: dict[str, str]) -> dict[str, str]:
    """Return the parameters as moto needs them.

    It does not know the IDs of key pairs, but their names. And Ray asks for all machine types there are, of
    which moto has so many in one answer that reading it takes seconds: it gets those that the tests use.
    """
    from moto.ec2.models import ec2_backends

    if parameters["Action"] == "DescribeInstanceTypes":
        used = {f"InstanceType.{at}": kind for at, kind in enumerate(MACHINE_TYPES, 1)}
        return {key: parameters[key] for key in ("Action", "Version")} | used
    if parameters["Action"] != "DeleteKeyPair" or "KeyPairId" not in parameters:
        return parameters
    pairs = [pair for account in ec2_backends.values() for pair in account[REGION].describe_key_pairs([])]
    names = [pair.key_name for pair in pairs if pair.id == parameters["KeyPairId"]]
    return {**parameters, "KeyName": names[0] if names else "none"}


class _Handler(BaseHTTPRequestHandler):
    aws: Aws
    moto: tuple[str, int]
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # one segment an answer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = self._request(body)
        self.aws.requests.append(request)
        fault = self.aws.take_fault(request)
        if fault and fault.code:
            status = ERRORS.get(fault.code, 400)
            error = f"<Code>{fault.code}</Code><Message>injected {fault.code}</Message>"
            text = f"<Response><Errors><Error>{error}</Error></Errors><RequestID>r</RequestID></Response>"
            return self._answer(status, text.encode(), "text/xml")
        if "Action" in request.parameters:
            parameters = fault.change(request.parameters) if fault else request.parameters
            body = urllib.parse.urlencode(_for_moto(parameters)).encode()
        connection = http.client.HTTPConnection(*self.moto, timeout=600)
        headers = {key: value for key, value in self.headers.items() if key.lower() != "content-length"}
        connection.request("POST", self.path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if fault:
            fault.after()
        return self._answer(answer.status, content, answer.headers.get("Content-Type", "text/xml"))

    def _request(self, body: bytes) -> Request:
        target = self.headers.get("X-Amz-Target")
        if target:
            return Request(target.split(".")[-1], {k: str(v) for k, v in json.loads(body or b"{}").items()})
        parameters = dict(urllib.parse.parse_qsl(body.decode(), keep_blank_values=True))
        return Request(parameters.get("Action", self.path), parameters)

    def _answer(self, status: int, content: bytes, kind: str) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:  # the client died in mid-request: some tests kill it
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        pass
