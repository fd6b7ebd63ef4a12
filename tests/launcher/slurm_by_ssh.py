"""A Slurm cluster whose login node is another machine, which a client with a home of its own reaches by SSH."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from tests.cluster.namespace_host import NAMESPACES, Host, in_net
from tests.launcher.slurm_here import DISK, HOME, ROOT, SlurmHere, environment, slurm_cluster
from tests.launcher.ssh_hosts import HIDE, SSHD

LOGIN = "10.1.0.1"
PROFILE = 'export SLURM_CONF={conf} PYTHONPATH="{path}" RAY_USAGE_STATS_ENABLED=0 PATH={python}:$PATH\n'


class Client:
    """The machine of a person, without Slurm's configuration and without the shared disk.

    Attributes:
        home: Its home, as the test sees it.
        slurm: The cluster.
    """

    def __init__(self, host: Host, slurm: SlurmHere, home: Path) -> None:
        self._host, self.slurm, self.home = host, slurm, home

    def begin(
        self, *command: str, stdin: int | IO[str] = subprocess.DEVNULL, **more: str
    ) -> subprocess.Popen[str]:
        """Start a command of the person's, in the home."""
        variables = {**environment(), "HOME": str(self._host.folder), **more}
        del variables["SLURM_CONF"]
        reached = [
            "nsenter",
            *NAMESPACES,
            "--target",
            str(self._host.pid),
            "env",
            "-C",
            str(self._host.folder),
            "-i",
        ]
        return subprocess.Popen(
            [*reached, *(f"{name}={value}" for name, value in variables.items()), *command],
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def overtone(self, *words: str, status: int = 0) -> str:
        """Return what `overtone` prints there."""
        with self.begin(sys.executable, "-m", "overtone", *words) as process:
            output, _ = process.communicate(timeout=300)
        assert process.returncode == status, f"{words}: {process.returncode}\n{output}\n{self.slurm.logs()}"
        return output


@contextmanager
def slurm_by_ssh() -> Iterator[Client]:
    """Start a Slurm cluster with sshd on each node, and a client that may log in; it reaches the login node alone."""
    with slurm_cluster() as slurm, TemporaryDirectory(prefix="ot-client-", dir="/tmp") as folder:
        host = Host("client", Path(folder), slurm.disk / "slurm" / "client.out")
        try:
            peer = ("type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
            in_net("ip", "link", "add", "outside", *peer, of=slurm.login)
            for one, link, address in ((slurm.login, "outside", LOGIN), (host, "eth0", "10.1.0.9")):
                one.run("ip", "address", "add", f"{address}/24", "dev", link)
                one.run("ip", "link", "set", link, "up")
            host.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/key")
            _give_home(host, folder)
            _admit(slurm, host.path("key.pub").read_text())
            yield Client(host, slurm, host.path("."))
        finally:
            host.kill()


def _give_home(host: Host, home: str) -> None:
    """Let sshd and ssh, which do not read HOME, use another folder as root's home."""
    script = f"sed 's#^\\(root:.*\\):[^:]*:#\\1:{home}:#' /etc/passwd >/dev/shm/passwd; mount --bind /dev/shm/passwd /etc/passwd"
    host.run("bash", "-ec", script)


def _admit(slurm: SlurmHere, public_key: str) -> None:
    """Start sshd on each host of a cluster."""
    (slurm.home / ".ssh").mkdir(mode=0o700)
    (slurm.home / ".ssh/authorized_keys").write_text(public_key)
    (slurm.home / ".bash_profile").write_text(
        PROFILE.format(conf=f"{DISK}/slurm/slurm.conf", path=ROOT / "src", python=Path(sys.executable).parent)
    )
    slurm.home.chmod(0o755)  # StrictModes
    for host in slurm.hosts:
        _give_home(host, HOME)
        host.run("bash", "-ec", f"{HIDE}\nhide /run; hide /etc/ssh; mkdir -p /run/sshd; ssh-keygen -A")
        (Path(f"/proc/{host.pid}/root/etc/ssh/sshd_config")).write_text(
            SSHD.format(port=22).replace("host_key", "ssh_host_ed25519_key")
        )
        host.run("/usr/sbin/sshd", "-f", "/etc/ssh/sshd_config", "-E", "/run/sshd.log")
