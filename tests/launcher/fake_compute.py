"""A small Compute Engine: machines and disks with labels, filters, pages and operations."""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = 2
"""Most items on a page."""


@dataclass
class Compute:
    """A project.

    Attributes:
        url: Its address.
        things: What exists: "instances/ZONE/NAME" or "disks/ZONE/NAME" to its description.
        requests: Method and path of each request.
        statuses: HTTP errors of the next requests whose "METHOD path" contains the key, first to last.
        failures: Codes of the next operations that fail, by "insert" or "delete".
    """

    url: str = ""
    things: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    statuses: dict[str, list[int]] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self, kind: str, name: str, labels: dict[str, str], zone: str = "us-central1-a", **more: Any
    ) -> None:
        """Add a machine ("instances") or a disk ("disks")."""
        self.things[f"{kind}/{zone}/{name}"] = {
            "name": name,
            "zone": f"{self.url}/projects/my-lab/zones/{zone}",
            "status": "RUNNING" if kind == "instances" else "READY",
            "creationTimestamp": "2026-01-02T03:04:05.678-08:00",
            "labels": labels,
            "labelFingerprint": "x",
            "machineType": f"zones/{zone}/machineTypes/e2-standard-2",
            "networkInterfaces": [{"networkIP": "10.0.0.2", "accessConfigs": [{"natIP": "192.0.2.1"}]}],
            **more,
        }

    def names(self, kind: str) -> list[str]:
        """Return the names of all machines, or disks."""
        return sorted(key.split("/")[2] for key in self.things if key.startswith(f"{kind}/"))


@contextmanager
def compute_server() -> Iterator[Compute]:
    """Run the server during the block."""
    compute = Compute()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"compute": compute}))
    compute.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield compute
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _matches(thing: dict[str, Any], wanted: str) -> bool:
    labels = re.findall(r'labels\.([\w-]+) = "?([\w-]+)"?', wanted)
    statuses = re.findall(r"status = (\w+)", wanted)
    has_labels = all(thing["labels"].get(key) == value for key, value in labels)
    has_labels &= all(key in thing["labels"] for key in re.findall(r"(?<!NOT )labels\.([\w-]+):\*", wanted))
    return has_labels and (not statuses or thing["status"] in statuses)


class _Handler(BaseHTTPRequestHandler):
    compute: Compute
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # one segment an answer

    def do_GET(self) -> None:
        self._answer_to("GET")

    def do_POST(self) -> None:
        self._answer_to("POST")

    def do_DELETE(self) -> None:
        self._answer_to("DELETE")

    def _answer_to(self, method: str) -> None:
        url = urllib.parse.urlsplit(self.path)
        path = url.path.partition("/projects/my-lab/")[2]
        query = dict(urllib.parse.parse_qsl(url.query))
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        line = f"{method} {path}"
        self.compute.requests.append(line)
        for key, statuses in self.compute.statuses.items():
            if key in line and statuses:
                return self._send(statuses.pop(0), {"error": {"message": "injected", "code": 0}})
        return self._send(*self._result(method, path.split("/"), query, body))

    def _result(
        self, method: str, path: list[str], query: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        things = self.compute.things
        if path[0] == "aggregated":
            found = [one for key, one in things.items() if key.startswith(f"{path[1]}/")]
            return 200, self._page(
                [one for one in found if _matches(one, query.get("filter", ""))], query, path[1]
            )
        if path[0] == "regions":
            return 200, {"items": [{"selfLink": "projects/my-lab/regions/us-central1/subnetworks/default"}]}
        zone, kind = path[1], path[2]
        if kind == "operations":
            code = path[3].partition("-")[2]
            error = {"error": {"errors": [{"code": code, "message": "injected"}]}} if code else {}
            return 200, {"name": path[3], "status": "DONE", **error}
        if method == "POST":
            return 200, self._operation("insert", lambda: self._insert(kind, zone, body))
        if len(path) == 3:
            found = [one for key, one in things.items() if key.startswith(f"{kind}/{zone}/")]
            return 200, {"items": [one for one in found if _matches(one, query.get("filter", ""))]}
        key = f"{kind}/{zone}/{path[3]}"
        if key not in things:
            return 404, {"error": {"message": "not found", "code": 404}}
        if method == "DELETE":
            return 200, self._operation("delete", lambda: things.pop(key))
        return 200, things[key]

    def _insert(self, kind: str, zone: str, body: dict[str, Any]) -> None:
        more = {key: value for key, value in body.items() if key not in ("name", "labels")}
        self.compute.add(kind, body["name"], body["labels"], zone, **{"status": "RUNNING", **more})

    def _operation(self, verb: str, act: Any) -> dict[str, Any]:
        codes = self.compute.failures.get(verb, [])
        code = codes.pop(0) if codes else ""
        if not code:
            act()
        return {"name": f"operation-{code}" if code else "operation", "status": "RUNNING"}

    def _page(self, found: list[dict[str, Any]], query: dict[str, str], kind: str) -> dict[str, Any]:
        start = int(query.get("pageToken", 0))
        items: dict[str, Any] = {"zones/none": {"warning": {"code": "NO_RESULTS_ON_PAGE"}}}
        for one in found[start : start + PAGE]:
            items.setdefault(one["zone"].rpartition("/")[2], {kind: []})[kind].append(one)
        more = {"nextPageToken": str(start + PAGE)} if start + PAGE < len(found) else {}
        return {"items": items, **more}

    def _send(self, status: int, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: object) -> None:
        pass
