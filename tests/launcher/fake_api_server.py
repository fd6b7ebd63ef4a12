"""A small Kubernetes API server on the loopback, good enough for kubectl and the `kubernetes` package.

It stores objects, checks the fields of those that the launcher makes, and refuses what the real one refuses: names that
exist, old resource versions, other uids. `Faults` has it fail on purpose. `fake_kuberay` plays the operator, and
`fake_pods` the pods, whose programs are real processes.
"""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from overtone.cluster.kubernetes.fields import wrong_fields

KINDS = {
    "pods": "Pod", "services": "Service", "secrets": "Secret", "events": "Event",
    "persistentvolumeclaims": "PersistentVolumeClaim", "rayclusters": "RayCluster", "rayjobs": "RayJob",
}  # fmt: skip
_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/v1/namespaces/(?P<namespace>[^/]+)/(?P<plural>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<sub>[a-z]+))?"
)


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "code": code, "reason": reason, "message": message,
        }  # fmt: skip


@dataclass
class Fault:
    """What goes wrong with some requests.

    Attributes:
        method: The requests' method.
        path: A regular expression that is searched for in their path.
        what: A status code, "disconnect" (in the middle of the answer), "lose answer" (after the request was
            carried out), or a function that is called before the request is carried out.
        times: How many requests it hits.
    """

    method: str
    path: str
    what: int | str | Callable[[], None]
    times: int = 1


@dataclass
class Store:
    """The objects, by plural, namespace and name."""

    objects: dict = field(default_factory=dict)
    version: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)
    clock_s: float = 1_800_000_000.0
    namespaces: set = field(default_factory=lambda: {"default", "lab"})

    def all(self, plural: str, namespace: str | None = None) -> list[dict]:
        with self.lock:
            return [one for (kind, space, _), one in self.objects.items()
                    if kind == plural and namespace in (None, space)]  # fmt: skip

    def get(self, plural: str, namespace: str, name: str) -> dict:
        with self.lock:
            if (plural, namespace, name) not in self.objects:
                raise Refused(404, "NotFound", f'{plural} "{name}" not found')
            return self.objects[plural, namespace, name]

    def add(self, plural: str, namespace: str, one: dict) -> dict:
        with self.lock:
            meta = one["metadata"]
            if namespace not in self.namespaces:
                raise Refused(404, "NotFound", f'namespaces "{namespace}" not found')
            if (plural, namespace, meta["name"]) in self.objects:
                raise Refused(409, "AlreadyExists", f'{plural} "{meta["name"]}" already exists')
            meta |= {"uid": str(uuid.uuid4()), "namespace": namespace, "creationTimestamp": self.now()}
            one |= {"kind": KINDS[plural], "apiVersion": "ray.io/v1" if plural.startswith("ray") else "v1"}
            self.objects[plural, namespace, meta["name"]] = one
            return self.touch(one)

    def replace(self, plural: str, namespace: str, name: str, one: dict) -> dict:
        with self.lock:
            live = self.get(plural, namespace, name)
            if one["metadata"].get("resourceVersion") not in (None, live["metadata"]["resourceVersion"]):
                raise Refused(409, "Conflict", f'{plural} "{name}": the object has been modified')
            one["metadata"] = {
                **one["metadata"],
                **{key: live["metadata"][key] for key in ("uid", "creationTimestamp")},
            }
            self.objects[plural, namespace, name] = one
            return self.touch(one)

    def delete(self, plural: str, namespace: str, name: str, uid: str | None) -> dict:
        with self.lock:
            live = self.get(plural, namespace, name)
            if uid not in (None, live["metadata"]["uid"]):
                raise Refused(409, "Conflict", f"the UID in the precondition ({uid}) does not match")
            if live["metadata"].get("finalizers"):
                live["metadata"]["deletionTimestamp"] = self.now()
                return self.touch(live)
            return self.objects.pop((plural, namespace, name))

    def touch(self, one: dict) -> dict:
        self.version += 1
        one["metadata"]["resourceVersion"] = str(self.version)
        return one

    def now(self) -> str:
        return datetime.fromtimestamp(self.clock_s, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class FakeApiServer:
    """The server, in threads of this process. A context manager.

    Attributes:
        url: Its address.
        requests: The method and path of each request so far.
        bodies: The body of each request so far.
        faults: What goes wrong.
        forbidden: Regular expressions of "METHOD path" that are refused with 403.
        has_kuberay: Whether the CRDs are installed.
        step: Called after each request: the operator's turn.
    """

    def __init__(self) -> None:
        self.store = Store()
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.faults: list[Fault] = []
        self.forbidden: list[str] = []
        self.has_kuberay = True
        self.step: Callable[[], None] = lambda: None
        self.pods: object = None
        handler = type("Handler", (_Handler,), {"api": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> FakeApiServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def write_kubeconfig(self, path: Path, namespace: str | None = None) -> Path:
        context = {"cluster": "fake", "user": "me", **({"namespace": namespace} if namespace else {})}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": self.url}}],
            "users": [{"name": "me", "user": {}}],
            "contexts": [{"name": "fake", "context": context}],
        }  # fmt: skip
        path.write_text(json.dumps(config))
        return path

    def take_fault(self, method: str, path: str) -> int | str | Callable[[], None] | None:
        with self.store.lock:
            for fault in self.faults:
                if fault.times > 0 and fault.method == method and re.search(fault.path, path):
                    fault.times -= 1
                    return fault.what
        return None

    def carry_out(self, method: str, path: str, query: dict, body: bytes) -> dict | bytes:
        """Return the answer to a request."""
        if (found := _discovery(path, self.has_kuberay)) is not None:
            return found
        match = _PATH.fullmatch(path)
        if not match or (match["group"] == "ray.io" and not self.has_kuberay):
            raise Refused(404, "", "404 page not found")
        plural, namespace, name = match["plural"], match["namespace"], match["name"]
        for pattern in self.forbidden:
            if re.search(pattern, f"{method} {path}"):
                raise Refused(
                    403, "Forbidden", f'{plural} is forbidden: User "me" cannot {method} it in "{namespace}"'
                )
        if method == "GET" and match["sub"] == "log":
            return self.pods.log(name, int(query.get("tailLines", ["1000"])[0]))  # type: ignore[attr-defined]
        if method == "GET" and name:
            return self.store.get(plural, namespace, name)
        if method == "GET":
            items = [one for one in self.store.all(plural, namespace) if _is_selected(one, query)]
            return {"kind": f"{KINDS[plural]}List", "apiVersion": "v1", "metadata": {}, "items": items}
        content = json.loads(body) if body else {}
        if method == "DELETE":
            return self.store.delete(plural, namespace, name, (content.get("preconditions") or {}).get("uid"))
        if method == "PATCH":
            live = json.loads(json.dumps(self.store.get(plural, namespace, name)))
            live["spec"] |= content["spec"]
            return self.store.replace(plural, namespace, name, live)
        _check_fields(content, query)
        if method == "POST":
            return self.store.add(plural, namespace, content)
        return self.store.replace(plural, namespace, name, content)


def _check_fields(content: dict, query: dict) -> None:
    if query.get("fieldValidation") != ["Strict"]:
        return
    known = {key: value for key, value in content["metadata"].items()
             if key not in ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")}  # fmt: skip
    checked = {key: value for key, value in content.items() if key != "status"} | {"metadata": known}
    for path, rule in wrong_fields(checked):
        raise Refused(400, "BadRequest", f'strict decoding error: unknown field "{path}" ({rule})')


def _is_selected(one: dict, query: dict) -> bool:
    labels = one["metadata"].get("labels") or {}
    for pair in filter(None, query.get("labelSelector", [""])[0].split(",")):
        key, _, value = pair.partition("=")
        if labels.get(key) != value:
            return False
    for pair in filter(None, query.get("fieldSelector", [""])[0].split(",")):
        key, _, value = pair.partition("=")
        found = one
        for part in key.split("."):
            found = found.get(part) or {}
        if found != value:
            return False
    return True


def _discovery(path: str, has_kuberay: bool) -> dict | None:
    """Return what kubectl asks first: which groups and resources there are."""
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        version = {"groupVersion": "ray.io/v1", "version": "v1"}
        group = {"name": "ray.io", "versions": [version], "preferredVersion": version}
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group] if has_kuberay else []}
    if path == "/api/v1" or (path == "/apis/ray.io/v1" and has_kuberay):
        is_ray = path.startswith("/apis")
        resources = [{"name": plural, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": ["get", "list"]}
                     for plural, kind in KINDS.items() if plural.startswith("ray") == is_ray]  # fmt: skip
        return {
            "kind": "APIResourceList",
            "groupVersion": "ray.io/v1" if is_ray else "v1",
            "resources": resources,
        }
    return None


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    api: FakeApiServer

    def answer(self) -> None:
        url, api = urlsplit(self.path), self.api
        body = self.read_body()
        with api.store.lock:
            api.requests.append(f"{self.command} {self.path}")
            api.bodies.append(body)
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self.close_connection = True
            api.pods.serve(self, url.path, parse_qs(url.query))  # type: ignore[attr-defined]
            return
        fault = api.take_fault(self.command, self.path)
        if callable(fault):
            fault()
        if isinstance(fault, int):
            self.send(*_failure(fault))
            return
        try:
            with api.store.lock:
                found = api.carry_out(self.command, url.path, parse_qs(url.query), body)
                data = found if isinstance(found, bytes) else json.dumps(found).encode()
            code = 200
        except Refused as refused:
            code, data = refused.status["code"], json.dumps(refused.status).encode()
            if refused.status["message"] == "404 page not found":
                data = b"404 page not found"
        if fault in ("disconnect", "lose answer"):
            self.close_connection = True
            if fault == "disconnect":
                self.send(code, data, {}, len(data) + 100)
            return
        self.send(code, data)
        with api.store.lock:
            api.step()

    def read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":  # kubectl sends its input so
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

    def send(self, code: int, data: bytes, headers: dict | None = None, length: int | None = None) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "text/plain" if not data.startswith(b"{") else "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        pass


def _failure(code: int) -> tuple[int, bytes, dict]:
    reason = {429: "TooManyRequests", 409: "Conflict"}.get(code, "InternalError")
    status = Refused(code, reason, f"fault {code}").status
    return code, json.dumps(status).encode(), {"Retry-After": "0"} if code == 429 else {}
