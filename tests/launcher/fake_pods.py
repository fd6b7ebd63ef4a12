"""The pods of a `FakeApiServer`: each has a folder as its home, and its programs are processes of this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from overtone.cluster.kubernetes.manifests import FILES_PATH

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455
_START_S = 60.0


class FakePods:
    """The programs and files of pods.

    Args:
        root: The folder of the pods' homes.

    Attributes:
        missing_images: Images that cannot be pulled.
        unschedulable: Whether no pod finds a node.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.missing_images, self.unschedulable = root, set(), False
        self._running: dict[str, list[subprocess.Popen]] = {}
        self._jobs: dict[str, subprocess.Popen] = {}
        self._env: dict[str, dict] = {}

    def home(self, pod: str) -> Path:
        return self.root / pod

    def advance(self, pod: dict, secrets: dict, store: object) -> None:
        """Advance a pod by one state: nothing, waiting, ready or failed."""
        name, main = pod["metadata"]["name"], pod["spec"]["containers"][0]
        status = pod.get("status")
        if status and status["phase"] != "Pending":
            return
        if status is None:
            pod["status"] = {
                "phase": "Pending",
                "containerStatuses": [_waiting(main, "ContainerCreating", "")],
            }
        elif self.unschedulable:
            said = {
                "type": "PodScheduled",
                "status": "False",
                "reason": "Unschedulable",
                "message": "0/3 nodes are available",
            }
            pod["status"] = {"phase": "Pending", "conditions": [said]}
        elif main["image"] in self.missing_images:
            said = f'Back-off pulling image "{main["image"]}"'
            pod["status"]["containerStatuses"] = [_waiting(main, "ImagePullBackOff", said)]
            if not any(one["involvedObject"]["name"] == name for one in store.all("events")):
                event = {"metadata": {"name": f"{name}.1"}, "reason": "Failed", "message": "image not found",
                         "involvedObject": {"name": name}}  # fmt: skip
                store.add("events", pod["metadata"]["namespace"], event)
        else:
            missing = [one for one in _secret_names(pod) if one not in secrets]
            if missing:
                said = f'secret "{missing[0]}" not found'
                pod["status"]["containerStatuses"] = [_waiting(main, "CreateContainerConfigError", said)]
            else:
                pod["status"] = self._start(pod, main, secrets)
        store.touch(pod)

    def _start(self, pod: dict, main: dict, secrets: dict) -> dict:
        """Run the pod's own script to its end; Ray itself is not started."""
        name = pod["metadata"]["name"]
        home, mount = self.home(name), self.root / f"{name}-files"
        for folder in (home, mount):
            shutil.rmtree(folder, ignore_errors=True)  # those of an earlier pod of the name
        home.mkdir(parents=True)
        for volume in pod["spec"].get("volumes", []):
            mount.mkdir()
            for key, value in secrets[volume["secret"]["secretName"]].items():
                (mount / key).write_bytes(base64.b64decode(value))
        self._env[name] = {
            "HOME": str(home), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(one for one in sys.path if one),
            **{one["name"]: _value(one, secrets, pod) for one in main["env"]},
        }  # fmt: skip
        script = _expanded(main["args"][0], self._env[name]).replace(FILES_PATH, str(mount))
        log = self.root / f"{name}.log"
        with open(log, "wb") as output:
            done = subprocess.run(["bash", "-c", f"{script} && true"], cwd=home, env=self._env[name], stdout=output,
                                  stderr=subprocess.STDOUT, timeout=_START_S, check=False)  # fmt: skip
        if done.returncode:
            ended = {"exitCode": done.returncode, "reason": "Error", "message": log.read_text()[-2048:]}
            state = {"name": main["name"], "ready": False, "state": {"terminated": ended}}
            return {"phase": "Failed", "containerStatuses": [state]}
        return {
            "phase": "Running",
            "containerStatuses": [{"name": main["name"], "ready": True, "state": {"running": {}}}],
        }

    def log(self, pod: str, n_lines: int) -> bytes:
        path = self.root / f"{pod}.log"
        return b"".join(path.read_bytes().splitlines(True)[-n_lines:]) if path.exists() else b""

    def run_job(self, pod: str, entrypoint: str) -> None:
        """Run a RayJob's entrypoint on its head."""
        with open(self.root / f"{pod}.job.log", "wb") as log:
            self._jobs[pod] = self._popen(pod, ["bash", "-c", entrypoint], log)

    def job_status(self, pod: str) -> int | None:
        return self._jobs[pod].poll() if pod in self._jobs else 1

    def keep(self, names: Iterable[str]) -> None:
        """End all programs of pods that are not named, also those that left their sessions."""
        names = set(names)
        for gone in set(self._running) - set(names):
            for process in self._running.pop(gone):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                for pipe in (process.stdin, process.stdout, process.stderr):
                    if pipe:
                        pipe.close()
            self._jobs.pop(gone, None)
        for gone in set(self._env) - set(names):
            _end_all_with_home(self._env.pop(gone)["HOME"])

    def close(self) -> None:
        self.keep(())

    def _popen(self, pod: str, words: list[str], output: object, **more: object) -> subprocess.Popen:
        process = subprocess.Popen(words, cwd=self.home(pod), env=self._env[pod], stdin=more.pop("stdin", subprocess.DEVNULL),
                                   stdout=output, stderr=more.pop("stderr", subprocess.STDOUT), start_new_session=True)  # fmt: skip
        self._running.setdefault(pod, []).append(process)
        return process

    # exec and port-forward, over WebSockets

    def serve(self, handler: object, path: str, query: dict) -> None:
        """Answer the request to run a program in a pod, or to reach a port of it."""
        pod = path.split("/")[-2]
        offered = [one.strip() for one in handler.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        chosen = next((one for one in ("v5.channel.k8s.io", "v4.channel.k8s.io") if one in offered), None)
        if chosen is None or (path.endswith("/exec") and pod not in self._env):
            handler.send(
                400 if chosen is None else 404,
                b'{"kind": "Status", "status": "Failure", "message": "no such pod"}',
            )
            return
        key = handler.headers["Sec-WebSocket-Key"].encode()
        handler.send_response(101)
        handler.send_header("Upgrade", "websocket")
        handler.send_header("Connection", "Upgrade")
        handler.send_header(
            "Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key + _MAGIC).digest()).decode()
        )
        handler.send_header("Sec-WebSocket-Protocol", chosen)
        handler.end_headers()
        handler.wfile.flush()
        frames = _Frames(handler)
        if path.endswith("/exec"):
            self._exec(pod, query, frames)
        else:
            _forward(int(query["ports"][0]), frames)

    def _exec(self, pod: str, query: dict, frames: _Frames) -> None:
        has_input = query.get("stdin") == ["true"]
        process = self._popen(pod, query["command"], subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.PIPE if has_input else subprocess.DEVNULL)  # fmt: skip
        if has_input:
            threading.Thread(target=_feed, args=(frames, process), daemon=True).start()
        readers = [threading.Thread(target=_pass_on, args=(pipe, channel, frames))
                   for channel, pipe in ((1, process.stdout), (2, process.stderr))]  # fmt: skip
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        frames.send(3, json.dumps(_exit_status(process.wait())).encode())
        frames.close()


class _Frames:
    """WebSocket frames whose first byte is a channel."""

    def __init__(self, handler: object) -> None:
        self._in, self._out, self._lock = handler.rfile, handler.wfile, threading.Lock()

    def send(self, channel: int, data: bytes) -> None:
        self._write(2, bytes([channel]) + data)

    def close(self) -> None:
        self._write(8, struct.pack(">H", 1000))

    def receive(self) -> tuple[int, bytes] | None:
        """Return the next channel and its data; None at the end."""
        while True:
            head = self._in.read(2)
            if len(head) < 2:
                return None
            size = head[1] & 127
            if size > 125:
                size = int.from_bytes(self._in.read(2 if size == 126 else 8), "big")
            mask = self._in.read(4) if head[1] & 128 else bytes(4)
            data = self._in.read(size)
            data = (
                int.from_bytes(data, "big") ^ int.from_bytes((mask * (size // 4 + 1))[:size], "big")
            ).to_bytes(size, "big")
            kind = head[0] & 15
            if kind == 8:
                return None
            if kind == 9:
                self._write(10, data)
            elif kind in (0, 1, 2) and data:
                return data[0], data[1:]

    def _write(self, kind: int, data: bytes) -> None:
        size = len(data)
        length = (
            bytes([size])
            if size < 126
            else struct.pack(">BH", 126, size)
            if size < 65536
            else struct.pack(">BQ", 127, size)
        )
        with self._lock, suppress(OSError, ValueError):
            self._out.write(bytes([128 | kind]) + length + data)
            self._out.flush()


def _feed(frames: _Frames, process: subprocess.Popen) -> None:
    with suppress(OSError, ValueError):
        while (found := frames.receive()) is not None:
            channel, data = found
            if channel == 255:  # version 5: the client closes a channel
                break
            if channel == 0:
                process.stdin.write(data)
                process.stdin.flush()
    with suppress(OSError, ValueError):
        process.stdin.close()


def _pass_on(pipe: object, channel: int, frames: _Frames) -> None:
    with suppress(ValueError):
        while data := pipe.read1(1 << 15):
            frames.send(channel, data)


def _forward(port: int, frames: _Frames) -> None:
    """Connect to a port: each of the two channels begins with its number, as Kubernetes has it."""
    with socket.create_connection(("127.0.0.1", port)) as there:
        for channel in (0, 1):
            frames.send(channel, struct.pack("<H", port))

        def back() -> None:
            with suppress(OSError):
                while data := there.recv(1 << 15):
                    frames.send(0, data)
            frames.close()

        threading.Thread(target=back, daemon=True).start()
        with suppress(OSError, ValueError):
            while (found := frames.receive()) is not None:
                there.sendall(found[1])


def _exit_status(code: int) -> dict:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    causes = [{"reason": "ExitCode", "message": str(code if code > 0 else 128 - code)}]
    return {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes},
            "message": f"command terminated with non-zero exit code: {code}"}  # fmt: skip


def _expanded(text: str, env: dict) -> str:
    """Return an argument as Kubernetes passes it: "$(NAME)" is a variable, and "$$" is "$"."""
    return re.sub(r"\$\$|\$\((\w+)\)", lambda one: "$" if not one[1] else env.get(one[1], one[0]), text)


def _end_all_with_home(home: str) -> None:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("HOME") == home:
                process.kill()


def _waiting(main: dict, reason: str, message: str) -> dict:
    return {
        "name": main["name"],
        "ready": False,
        "state": {"waiting": {"reason": reason, "message": message}},
    }


def _secret_names(pod: dict) -> list[str]:
    refs = [
        one["valueFrom"]["secretKeyRef"]["name"]
        for one in pod["spec"]["containers"][0]["env"]
        if "secretKeyRef" in one.get("valueFrom", {})
    ]
    return refs + [one["secret"]["secretName"] for one in pod["spec"].get("volumes", []) if "secret" in one]


def _value(variable: dict, secrets: dict, pod: dict) -> str:
    if "value" in variable:
        return variable["value"]
    if field := variable["valueFrom"].get("fieldRef"):
        return pod["metadata"]["labels"][
            field["fieldPath"].removeprefix("metadata.labels['").removesuffix("']")
        ]
    ref = variable["valueFrom"]["secretKeyRef"]
    return base64.b64decode(secrets[ref["name"]][ref["key"]]).decode()
