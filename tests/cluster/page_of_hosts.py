"""Asks a dashboard as its page does, on the host where this runs: `page_of_hosts.py ADDRESS PATH [BODY]`."""

import http.client
import json
import sys
from urllib.parse import urlsplit

parts = urlsplit(sys.argv[1])
origin = {"Origin": f"{parts.scheme}://{parts.netloc}", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}
connection = http.client.HTTPConnection(parts.netloc, timeout=300)
connection.request("POST", "/api/login", json.dumps({"token": parts.fragment.partition("=")[2]}), origin)
answer = connection.getresponse()
answer.read()
session = {**origin, "Cookie": answer.getheader("Set-Cookie", "").partition(";")[0]}
path, body = sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
connection.request("GET" if body is None else "POST", f"/api/experiments/watched/{path}", body, session)
print(connection.getresponse().read().decode())
