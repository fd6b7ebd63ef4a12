"""Runs Ray on one node of a job until the job ends: `python -m overtone.cluster.slurm.node SETTINGS`.

This process adopts all processes of Ray on its node, so that it can end them and remove their files. It is
the only task of a job step. It ends when the job's program closes its standard input, also by ending itself,
and at the SIGTERM that Slurm sends when the job is cancelled or requeued.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from overtone.cluster.remote import last_lines
from overtone.regular_files import replace_file
from overtone.standard_streams import say
from overtone.worker.process_tree import adopt_orphans, parents

FIRST_PORT, PORTS_EACH, N_BLOCKS = 20_000, 16, 750
"""Ports below those that systems give to outgoing connections; each job has a block of them on a node."""

_TRIES = 3
_LOOK_S = 0.5
_STORE_SHARE = 0.3
_LEAST_STORE_BYTES = 80_000_000
_FOLDERS_OF_RAY = "/tmp"
"""Ray's sockets lie below this folder: TMPDIR may be too long for the 107 bytes of a socket's path."""


class _End(BaseException):
    """Slurm ends the step."""


def main(arguments: list[str]) -> int:
    """Run Ray on this node; returns the exit status of the step."""
    asked = json.loads(arguments[0])
    adopt_orphans()

    def on_signal(*_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # the end must not be disturbed
        raise _End

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    folder = Path(_FOLDERS_OF_RAY, f"ot-{asked['job']}-{asked['restart']}")
    try:
        _make_private(folder)
        _run(asked, folder)
        return 0
    except _End:
        return 0
    except OSError as error:
        say(f"{asked['node']}: {error}")
    finally:
        with suppress(_End):
            _end_all()
        shutil.rmtree(folder, ignore_errors=True)
    return 1


def _run(asked: Mapping[str, Any], folder: Path) -> None:
    """Start Ray, say so, and watch it until the job ends.

    Raises:
        OSError: Ray does not start, or has ended before the job.
    """
    environment = {"RAY_USAGE_STATS_ENABLED": "0", **os.environ}
    for number in range(_TRIES):
        first = free_block(int(asked["job"]) + number)
        started = subprocess.run(
            ["ray", "start", *ray_options(asked, first, str(folder))],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            check=False,
        )  # fmt: skip
        if started.returncode == 0:
            break
        last = last_lines(started.stdout)
        _end_all()
    else:
        raise OSError(f"ray start failed {_TRIES} times, the last time with:{last}")
    raylets = [pid for pid in _descendants() if _name(pid) == "raylet"]
    note = {
        "node": asked["node"],
        "restart": asked["restart"],
        "address": asked.get("address") or f"{_address(asked)}:{first}",
    }
    replace_file(Path(asked["folder"], "nodes", f"{asked['node']}.json"), json.dumps(note).encode())
    while raylets and all(_is_running(pid) for pid in raylets):
        if select.select([0], [], [], _LOOK_S)[0] and not os.read(0, 4096):
            return  # The job's program ends the step, or is gone.
    raise OSError(f"Ray has ended here; its logs were in {folder}")


def ray_options(asked: Mapping[str, Any], first: int, folder: str) -> list[str]:
    """Return the options of `ray start`.

    Args:
        asked: What the job's program asks for: `address` of the head (missing on the head itself), `node`,
            `cpus`, and `gpus` and `memory_bytes`, which may be None.
        first: The first port of this job's block.
        folder: Where Ray's sockets and logs lie on this node.
    """
    ports = {
        "node-manager-port": 1, "object-manager-port": 2, "runtime-env-agent-port": 3,
        "metrics-export-port": 4, "dashboard-agent-listen-port": 5, "dashboard-agent-grpc-port": 6,
    }  # fmt: skip
    values: dict[str, Any] = {name: first + at for name, at in ports.items()}
    if asked.get("address"):
        values["address"] = asked["address"]
    else:
        values |= {"port": first, "ray-client-server-port": first + 7, "include-dashboard": "false"}
    values |= {"num-cpus": asked["cpus"], "num-gpus": asked.get("gpus"), "temp-dir": folder}
    values["node-ip-address"] = _address(asked)
    if memory := asked.get("memory_bytes"):
        store = store_bytes(memory, _shared_bytes())
        values |= {"object-store-memory": store, "memory": max(memory - store, 0) or None}
    words = [f"--{name}={value}" for name, value in values.items() if value is not None]
    return [*words, "--disable-usage-stats", *([] if asked.get("address") else ["--head"])]


def store_bytes(memory: int, shared: int) -> int:
    """Return the size of Ray's object store.

    Ray itself would take a share of the whole node's memory, also where the job has a part of it only.

    Args:
        memory: The job's memory on this node, in bytes.
        shared: What `/dev/shm` has room for, in bytes.
    """
    return max(_LEAST_STORE_BYTES, min(int(memory * _STORE_SHARE), int(shared * 0.9)))


def free_block(number: int) -> int:
    """Return the first port of a block that is free here, beginning with the block of this number."""
    for i in range(N_BLOCKS):
        first = FIRST_PORT + (number + i) % N_BLOCKS * PORTS_EACH
        if all(_is_free(port) for port in range(first, first + PORTS_EACH)):
            return first
    raise OSError(f"no free ports from {FIRST_PORT} to {FIRST_PORT + N_BLOCKS * PORTS_EACH}")


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind(("", port))
        except OSError:
            return False
    return True


def _address(asked: Mapping[str, Any]) -> str:
    """Return the address at which other nodes reach this one; 127.0.0.1 without a network."""
    with suppress(OSError):
        address = socket.gethostbyname(asked["node"])
        if not address.startswith("127."):
            return address
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(("192.0.2.1", 9))  # Sends nothing: the system only chooses a route.
        return str(one.getsockname()[0])
    return "127.0.0.1"


def _shared_bytes() -> int:
    try:
        found = os.statvfs("/dev/shm")
    except OSError:
        return 0
    return found.f_bavail * found.f_frsize


def _make_private(folder: Path) -> None:
    """Make a folder for this user alone.

    Raises:
        OSError: Somebody else made it first.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise OSError(f"{folder} belongs to somebody else: its administrator must remove it") from None


# --- processes -------------------------------------------------------------------------------


def _end_all() -> None:
    """End all descendants: SIGKILL, since raylets and workers would only wait for each other."""
    end = time.monotonic() + 10
    while (found := _descendants()) and time.monotonic() < end:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.02)


def _descendants() -> set[int]:
    below: dict[int, list[int]] = {}
    for pid, parent in parents():
        below.setdefault(parent, []).append(pid)
    found, todo = set(), [os.getpid()]
    while todo:
        for pid in below.get(todo.pop(), ()):
            found.add(pid)
            todo.append(pid)
    return found


def _is_running(pid: int) -> bool:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return _name(pid) == "raylet"


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
