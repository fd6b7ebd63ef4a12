"""A host in namespaces of its own, as far as its processes see a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ADDRESS = {"head": "10.0.0.1", "other": "10.0.0.2", "stranger": "10.0.0.3"}  # as in articles
NAMESPACES = ("--net", "--mount", "--pid", "--uts", "--ipc")
HAS_SETPRIV = shutil.which("setpriv") is not None
UNSHARE = (
    *(("setpriv", "--pdeathsig", "KILL") if HAS_SETPRIV else ()),
    "unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc",
)  # fmt: skip
"""Starts the first process of a host. All its processes end with the process that started it, also by kill -9."""

HOST = """
set -e
hostname "$1"
mount -t tmpfs tmpfs /dev/shm
mount --bind /dev/null /etc/resolv.conf  # else whoever asks for a name waits for a server that nobody reaches
mount -t tmpfs tmpfs "$2"
ip link set lo up
echo up
while true; do sleep 1000 & wait; done
"""
"""The first process of a host, which also buries what others leave."""


class Host:
    """One machine, as far as its processes see.

    Args:
        name: Its name.
        folder: Where its temporary files and results lie: the same path on each host, and not the same disk.
        log: What its commands print.
    """

    def __init__(self, name: str, folder: Path, log: Path) -> None:
        self.name, self.folder, self.log = name, folder, log
        self._first = subprocess.Popen(
            [*UNSHARE, "bash", "-c", HOST, "host", name, str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._first.stdout is not None
        assert self._first.stderr is not None
        if self._first.stdout.readline() != "up\n":
            reason = self._first.stderr.read().strip()
            self.kill()
            pytest.skip(f"hosts need namespaces, which are not permitted here: {reason}")
        task = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children")
        self.pid = int(task.read_text())

    def connect(self, address: str, switch: Host) -> None:
        """Plug it into a switch."""
        switch.run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0")
        in_net("ip", "link", "set", "eth0", "netns", str(self.pid), of=switch)
        switch.run("ip", "link", "set", self.name, "master", "lan", "up")
        self.run("ip", "address", "add", f"{address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "route", "add", "default", "dev", "eth0")

    def begin(self, *command: str) -> subprocess.Popen[bytes]:
        """A command that goes on there."""
        environment = {name: value for name, value in os.environ.items() if not (name.startswith("RAY_") and name.isupper())}
        mine = {"HOME": str(self.folder), "TMPDIR": str(self.folder), "RAY_TMPDIR": str(self.folder)}
        with self.log.open("ab") as log:
            return subprocess.Popen(
                ["nsenter", *NAMESPACES, "--target", str(self.pid), "env", "-C", str(self.folder), *command],
                env={**environment, **mine, "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0"}, stdout=log, stderr=log,
            )  # fmt: skip

    def run(self, *command: str) -> None:
        """Run a command there, to its end."""
        with self.begin(*command) as process:
            assert process.wait(300) == 0, f"{self.name}: {command}\n{self.log.read_text()[-2000:]}"

    def output(self, *command: str) -> str:
        """What a command prints there."""
        reached = ["nsenter", *NAMESPACES, "--target", str(self.pid), *command]
        return subprocess.run(reached, capture_output=True, text=True, timeout=300, check=True).stdout

    def path(self, name: str) -> Path:
        """Where a file of its folder is seen from outside."""
        return Path(f"/proc/{self.pid}/root{self.folder}", name)

    def shared_bytes(self) -> int:
        """How much shared memory is used there."""
        found = os.statvfs(f"/proc/{self.pid}/root/dev/shm")
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def commands(self) -> list[str]:
        """What runs there."""
        return self.output("ps", "-eo", "args=").splitlines()

    def signal(self, signal: str, pid: int) -> None:
        """Send a signal to one of its processes."""
        self.run("kill", f"-{signal}", str(pid))

    def has(self, pid: int) -> bool:
        """Whether one of its processes runs."""
        return Path(f"/proc/{self.pid}/root/proc/{pid}").exists()

    def kill(self) -> None:
        """End all its processes at once."""
        self._first.kill()
        self._first.communicate()


def in_net(*command: str, of: Host) -> None:
    subprocess.run(["nsenter", "--net", "--target", str(of.pid), *command], check=True, timeout=300)
