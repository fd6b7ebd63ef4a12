"""Hosts with sshd in network namespaces, and a client: as separate as machines, as far as processes see."""

from __future__ import annotations

import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from tests.cluster.namespace_host import NAMESPACES, UNSHARE

HOME = Path(pwd.getpwuid(0).pw_dir)
REPOSITORY = Path(__file__).parents[2]
PYTHON = Path(sys.executable).parent
CLIENT = "10.0.0.9"

LONG_S = 600.0
"""When a test gives up. No test depends on how fast a machine is: only what hangs comes to this."""

NEEDED = tuple(dict.fromkeys(map(str, (REPOSITORY, Path(sys.prefix), Path(sys.base_prefix), PYTHON))))
"""The folders that the tests' Python needs on each host."""

HIDE = """
hide() {  # folder, what it keeps: an empty folder is mounted over the first, but for what is kept below it
  local over=$1 kept=() at=0 path; shift
  for path in "$@"; do
    case $path in "$over"/*) at=$((at + 1)); mkdir /dev/shm/$at; mount --bind "$path" /dev/shm/$at; kept+=("$path");; esac
  done
  mount -t tmpfs -o mode=755 tmpfs "$over"
  at=0
  for path in "${kept[@]}"; do
    at=$((at + 1)); mkdir -p "$path"; mount --bind /dev/shm/$at "$path"; umount /dev/shm/$at; rmdir /dev/shm/$at
  done
}
"""

BEGIN = f"""
set -e
hostname "$1"
mount -t tmpfs tmpfs /dev/shm
mount --bind /dev/null /etc/resolv.conf  # else whoever asks for a name waits for a server that nobody reaches
{HIDE}
hide "$2" "${{@:3}}"
hide /tmp "${{@:3}}"
chmod 1777 /tmp
hide /run "${{@:3}}"
hide /etc/ssh
mkdir -p /run/sshd
ip link set lo up
echo up
while true; do sleep 1000 & wait; done
"""
"""The first process of a host, which also buries what others leave."""

SSHD = """
Port {port}
ListenAddress 0.0.0.0
HostKey /etc/ssh/host_key
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
MaxStartups 100
"""

PROFILE = f"""
echo "a profile that prints"
export PATH=/run/bin:{PYTHON}:$PATH PYTHONPATH={REPOSITORY / "src"} PYTHONDONTWRITEBYTECODE=1
export RAY_USAGE_STATS_ENABLED=0
"""
"""Ray is on the PATH of login shells alone."""

RAY = f"""#!{sys.executable}
import sys
sys.path.insert(0, "{REPOSITORY}")
from ray.scripts.scripts import main
from tests.slow_ray import name_ports_of_agents
name_ports_of_agents()
sys.exit(main())
"""
"""Ray's command, whose nodes come up on a slow machine, too."""


class Host:
    """A machine, as far as its processes see; it has its own home, /tmp, /run and network.

    Args:
        name: Its name.
        address: Its address.
    """

    def __init__(self, name: str, address: str) -> None:
        self.name, self.address = name, address
        self._first = subprocess.Popen(
            [*UNSHARE, "bash", "-c", BEGIN, "host", name, str(HOME), *NEEDED],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self._first.stdout is not None
        assert self._first.stderr is not None
        if self._first.stdout.readline() != "up\n":
            self._first.kill()
            reason = self._first.stderr.read().strip()
            if os.environ.get("CI") == "true":
                pytest.fail(f"hosts need namespaces, which are not permitted here: {reason}")
            pytest.skip(f"hosts need namespaces, which are not permitted here: {reason}")
        self.pid = children(self._first.pid)[0]
        self.path("/run/bin").mkdir()
        self.path("/run/bin/ray").write_text(RAY)
        self.path("/run/bin/ray").chmod(0o755)
        self.path("/root/.profile" if str(HOME) == "/root" else f"{HOME}/.profile").write_text(PROFILE)

    # its processes

    def begin(self, *command: str, folder: Path = HOME, **options: Any) -> subprocess.Popen[str]:
        """A command that goes on there, in an environment as a login has it."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, **options}
        clean = {
            "HOME": str(HOME), "USER": "root", "LOGNAME": "root", "SHELL": "/bin/bash", "LANG": "C.UTF-8",
            "PATH": f"{PYTHON}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "PYTHONPATH": str(REPOSITORY / "src"), "PYTHONDONTWRITEBYTECODE": "1", "RAY_USAGE_STATS_ENABLED": "0",
            **options.pop("env", {}),
        }  # fmt: skip
        reached = ["nsenter", *NAMESPACES, "--target", str(self.pid), "env", "-C", str(folder), *command]
        return subprocess.Popen(reached, text=True, env=clean, **options)

    def run(self, *command: str, timeout_s: float = LONG_S, **options: Any) -> subprocess.CompletedProcess[str]:
        """A command there, to its end; its output and errors are in `stdout`."""
        given = options.pop("input", None)
        if given is not None:
            options["stdin"] = subprocess.PIPE
        process = self.begin(*command, **options)
        try:
            output, errors = process.communicate(given, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            for pid in [*children(process.pid), process.pid]:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError(
                f"{self.name}: {command} took more than {timeout_s} s:\n{process.communicate()[0]}"
            ) from None
        return subprocess.CompletedProcess(command, process.returncode, output, errors)

    def check(self, *command: str, **options: Any) -> str:
        """What a command prints there, which must succeed."""
        done = self.run(*command, **options)
        assert done.returncode == 0, f"{self.name}: {command} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def processes(self) -> dict[int, str]:
        """All processes, their command lines by their ids there; not the host's first and those of `ps`, nor sshd's."""
        lines = self.check("ps", "-eo", "pid=,args=").splitlines()
        found = {int(pid): args for pid, _, args in (line.strip().partition(" ") for line in lines)}
        own = ("bash -c", "sleep 1000", "ps -eo", "/usr/sbin/sshd", "sshd:")
        return {pid: args.strip() for pid, args in found.items() if not args.strip().startswith(own)}

    def kill(self) -> None:
        """End all its processes at once, and its network, as a power cut does."""
        self._first.kill()
        self._first.communicate()

    # its files and its network

    def path(self, name: str | Path) -> Path:
        """Where an absolute path of it is seen from outside."""
        return Path(f"/proc/{self.pid}/root{name}")

    def home(self, name: str) -> Path:
        """Where a file of its home is seen from outside."""
        return self.path(HOME / name)

    def temporary_files(self) -> list[str]:
        """The names of what Ray, Overtone and Python's processes have left in its /tmp."""
        return sorted(one for one in os.listdir(self.path("/tmp")) if one.startswith(("ot-", "overtone", "pymp-", "ray")))

    def connect(self, switch: Host) -> None:
        """Plug it into a switch."""
        link = f"v{self.address.replace('.', '')}"
        in_net(switch, "ip", "link", "add", link, "type", "veth", "peer", "name", "eth0")
        in_net(switch, "ip", "link", "set", "eth0", "netns", str(self.pid))
        in_net(switch, "ip", "link", "set", link, "master", "lan", "up")
        in_net(self, "ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        in_net(self, "ip", "link", "set", "eth0", "up")
        in_net(self, "ip", "route", "add", "default", "dev", "eth0")

    def serve_ssh(self, public_key: str | None, port: int = 22) -> None:
        """Start its sshd, with a new host key; the only key that may log in is `public_key`."""
        key = self.path("/etc/ssh/host_key")
        if not key.exists():
            self.check("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/etc/ssh/host_key")
        self.path("/etc/ssh/sshd_config").write_text(SSHD.format(port=port))
        folder = self.home(".ssh")
        folder.mkdir(mode=0o700, exist_ok=True)
        if public_key is not None:
            (folder / "authorized_keys").write_text(public_key)
            (folder / "authorized_keys").chmod(0o600)
        self.check("/usr/sbin/sshd", "-f", "/etc/ssh/sshd_config", "-E", "/run/sshd.log")

    def add_user(self, name: str, public_key: str) -> Path:
        """Add a user with a home and no rights, who may log in by a key; return the home."""
        home = Path("/run") / name
        (self.path("/run/passwd")).write_text(f"{Path('/etc/passwd').read_text()}{name}:x:1500:1500::{home}:/bin/bash\n")
        self.check("mount", "--bind", "/run/passwd", "/etc/passwd")
        self.check("mkdir", "-m", "700", "-p", f"{home}/.ssh")
        self.path(home / ".ssh/authorized_keys").write_text(public_key)
        self.path(home / ".profile").write_text(PROFILE)
        self.check("chown", "-R", "1500:1500", str(home))
        return home

    def stop_ssh(self) -> None:
        """End its sshd, which then listens no more."""
        self.check("pkill", "-f", "/usr/sbin/sshd -f")
        until(lambda: "[listener]" not in self.check("ps", "-eo", "args="), f"the end of the sshd of {self.name}")


class Network:
    """A client and hosts that it reaches by its key.

    Attributes:
        client: Where the launcher runs; its home has the key, and `project/`, in which commands run.
        hosts: The hosts, 10.0.0.1 and on.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._switch = self._made("switch", "10.0.0.254")
        in_net(self._switch, "ip", "link", "add", "lan", "type", "bridge")
        in_net(self._switch, "ip", "link", "set", "lan", "up")
        self.client = self._made("client", CLIENT)
        self.client.connect(self._switch)
        self.client.home(".ssh").mkdir(mode=0o700)
        self.client.check("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{HOME}/.ssh/id_ed25519")
        self.public_key = self.client.home(".ssh/id_ed25519.pub").read_text()
        self.project = HOME / "project"
        self.client.path(self.project).mkdir()
        self.hosts: list[Host] = []

    def add_host(self, knows_key: bool = True, port: int = 22) -> Host:
        """One more host; without `knows_key` its sshd refuses the client."""
        number = len(self.hosts) + 1
        host = self._made(f"host{number}", f"10.0.0.{number}")
        host.connect(self._switch)
        host.serve_ssh(self.public_key if knows_key else None, port)
        self.hosts.append(host)
        return host

    def write_config(self, file: str = "c.yaml", /, text: str = "", **settings: Any) -> Path:
        """Write a config of all hosts into the project; JSON is YAML. Returns the path as the client sees it."""
        provider = {"type": "local", "hosts": [host.address for host in self.hosts], "user": "root"}
        config = {"name": "three", "provider": provider, **settings}
        self.client.path(self.project / file).write_text(text or json.dumps(config, indent=1))
        return self.project / file

    def overtone(self, *arguments: str, timeout_s: float = LONG_S, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run `overtone` on the client, in the project."""
        return self.client.run(*overtone(*arguments), folder=self.project, timeout_s=timeout_s, **options)

    def begin(self, *arguments: str, **options: Any) -> Command:
        """Start `overtone` on the client, in the project."""
        return Command(self.client.begin(*overtone(*arguments), folder=self.project, **options))

    def left(self) -> dict[str, list[str]]:
        """The processes that are left on the hosts; {} if there is none."""
        found = {host.name: sorted(host.processes().values()) for host in self.hosts}
        return {name: processes for name, processes in found.items() if processes}

    def files_left(self) -> list[str]:
        """The launcher's files on the hosts, temporary ones of it and of Ray, and keys beside the client's own."""
        found = []
        for host in self.hosts:
            folder = host.home(".overtone/cluster")
            found += [f"{host.name}: {file}" for file in os.listdir(folder)] if folder.exists() else []
            found += [f"{host.name}: /tmp/{file}" for file in host.temporary_files()]
            keys = host.home(".ssh/authorized_keys").read_text()
            found += [f"{host.name}: a key"] if keys != self.public_key else []
        return found

    def _made(self, name: str, address: str) -> Host:
        host = Host(name, address)
        self._stack.callback(host.kill)
        return host


class Command:
    """A command that runs on the client, and what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.printed = ""

    def wait_for(self, text: str, within_s: float = LONG_S) -> None:
        """Read its output until `text` comes."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + within_s
        while text not in self.printed:
            line = self.process.stdout.readline()
            self.printed += line
            assert line, f"it ended before it printed {text!r}:\n{self.printed}"
            assert time.monotonic() < deadline, f"{text!r} did not come within {within_s:g} s:\n{self.printed}"

    def signal(self, number: int) -> None:
        """Send a signal to it, not to its children."""
        os.kill(children(self.process.pid)[0], number)

    def wait(self, within_s: float = LONG_S) -> int:
        """Its exit status, as shells give it; all its output is in `printed` then.

        Ctrl-C during an import, where a dataclass compiles its methods, lets CPython end by the signal in the end,
        although a handler of KeyboardInterrupt has returned 130: a shell says 130 then, too.
        """
        try:
            output, _ = self.process.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            output, _ = self.process.communicate()
            raise AssertionError(f"it did not end within {within_s:g} s:\n{self.printed}{output}") from None
        self.printed += output or ""
        code = self.process.returncode
        return code if code >= 0 else 128 - code


@contextmanager
def network(n_hosts: int) -> Iterator[Network]:
    """A client and so many hosts; skips the test if this machine cannot have them."""
    if sys.platform != "linux" or not os.path.exists("/usr/sbin/sshd") or shutil.which("rsync") is None:
        pytest.skip("hosts need Linux namespaces, sshd and rsync: apt install openssh-server rsync")
    with ExitStack() as stack:
        made = Network(stack)
        for _ in range(n_hosts):
            made.add_host()
        yield made


def overtone(*arguments: str) -> list[str]:
    """The command line of `overtone`, by the Python of these tests."""
    return [sys.executable, "-m", "overtone", *arguments]


def children(pid: int) -> list[int]:
    """The processes that a process has started, as seen from outside."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def in_net(host: Host, *command: str) -> None:
    """Run a command of this machine in a host's network."""
    subprocess.run(["nsenter", "--net", "--target", str(host.pid), *command], check=True, timeout=LONG_S)


def until(is_so: Callable[[], Any], what: str, within_s: float = LONG_S) -> Any:
    """What `is_so` returns, as soon as it is true."""
    deadline = time.monotonic() + within_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"{what}: not within {within_s:g} s"
        time.sleep(0.1)
    return found


__all__ = ["LONG_S", "Command", "Host", "Network", "network", "overtone", "quote", "until"]


def read_until(fd: int, text: bytes, after: bytes = b"") -> bytes:
    """Read from a terminal until `text` comes, after `after`."""
    seen = b""
    while text not in seen[seen.find(after) if after in seen else len(seen) :]:
        ready, _, _ = select.select([fd], [], [], LONG_S)
        assert ready, seen.decode(errors="replace")
        seen += os.read(fd, 65536)
    return seen
