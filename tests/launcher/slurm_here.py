"""A Slurm cluster on this machine: a login node with the controller and nodes, each in namespaces of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cluster.namespace_host import NAMESPACES, Host
from tests.launcher.ssh_hosts import HIDE, NEEDED

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue")
DISK = "/mnt"
"""Where every node sees the shared disk."""
HOME = f"{DISK}/home"
CPUS = 2
ROOT = Path(__file__).parents[2]

SLURM_CONF = """
ClusterName=here
SlurmctldHost=login(10.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=/tmp/munge.socket,cred_expire=5
StateSaveLocation={disk}/slurm/state
SlurmdSpoolDir=/tmp/spool
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldLogFile={disk}/slurm/slurmctld.log
SlurmdLogFile={disk}/slurm/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
MpiDefault=none
ReturnToService=2
KillWait=5
SlurmdTimeout=20
JobRequeue=1
PropagateResourceLimits=NONE
{nodes}
PartitionName=small Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=ALL MaxTime=60 State=UP
"""


class SlurmHere:
    """The cluster of a test.

    Attributes:
        disk: The shared disk, as the test sees it; the nodes see it at `DISK`.
        login: The login node, where the controller runs.
        nodes: The other nodes, by name.
    """

    def __init__(self, disk: Path, login: Host, nodes: Mapping[str, Host]) -> None:
        self.disk, self.login, self.nodes = disk, login, nodes
        self.home = disk / "home"

    @property
    def hosts(self) -> tuple[Host, ...]:
        return (self.login, *self.nodes.values())

    def begin(self, *command: str, **more: str) -> subprocess.Popen[str]:
        """Start a command of the user's on the login node."""
        reached = ["nsenter", *NAMESPACES, "--target", str(self.login.pid)]
        return subprocess.Popen(
            [*reached, "env", "-C", HOME, "-i", *(f"{k}={v}" for k, v in {**environment(), **more}.items()), *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, *command: str, status: int | None = 0, **more: str) -> str:
        """Return what a command of the user's prints on the login node."""
        with self.begin(*command, **more) as process:
            output, _ = process.communicate(timeout=180)
        assert status is None or process.returncode == status, (
            f"{command}: {process.returncode}\n{output}\n{self.logs()}"
        )
        return output

    def logs(self) -> str:
        """Return the ends of the daemons' logs."""
        return "\n".join(
            f"{path.name}:\n{path.read_text()[-3000:]}" for path in sorted(self.disk.glob("slurm/*.log"))
        )

    def wait(self, is_so: Callable[[], object], what: str, within_s: float = 120.0) -> None:
        """Wait until something is so."""
        end = time.monotonic() + within_s
        while not is_so():
            assert time.monotonic() < end, (
                f"not in {within_s:g} s: {what}\n{self.run('squeue', status=None)}\n{self.logs()}"
            )
            time.sleep(0.2)

    def state(self, job: str) -> str:
        """Return a job's state, such as "RUNNING"; "" once Slurm has forgotten it."""
        shown = self.run("scontrol", "--oneliner", "show", "job", job, status=None)
        return next((word.partition("=")[2] for word in shown.split() if word.startswith("JobState=")), "")

    def processes(self) -> dict[str, list[str]]:
        """Return what runs on each node, except for its first process and the daemons of Slurm and SSH."""
        return {
            name: [one for one in host.commands() if not one.startswith(_DAEMONS)]
            for name, host in self.nodes.items()
        }

    def left_in_tmp(self) -> dict[str, list[str]]:
        """Return the temporary files on each node, except for those that stay."""
        return {
            name: [
                one
                for folder in ("/tmp", "/dev/shm")
                for one in host.output("ls", "-A", folder).splitlines()
                if not one.startswith((*_FILES, host.folder.name))
            ]
            for name, host in self.nodes.items()
        }


_FILES = (
    "munge", "slurmd", "spool", "overtone-memory-",
    *(Path(path).parts[2] for path in NEEDED if path.startswith("/tmp/")),
)  # fmt: skip
"""Of Slurm's daemons, the lock by which a user's runs on a node agree who ends if its memory runs short, and
the tests' Python where it lies below /tmp."""
_DAEMONS = ("bash -c  set -e hostname", "sleep 1000", "/usr/sbin/", "ps -eo args=", "slurmstepd:", "sshd:")


def environment() -> dict[str, str]:
    """Return the environment of a user who logs in."""
    python = Path(sys.executable).parent
    return {
        "HOME": HOME, "PATH": f"{python}:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "USER": "root", "LANG": "C.UTF-8",
        "SLURM_CONF": f"{DISK}/slurm/slurm.conf", "PYTHONPATH": str(ROOT / "src"), "RAY_USAGE_STATS_ENABLED": "0",
    }  # fmt: skip


@contextmanager
def slurm_cluster(names: tuple[str, ...] = ("node1", "node2")) -> Iterator[SlurmHere]:
    """Start a cluster of a login node and these nodes."""
    if missing := [
        name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None
    ]:
        pytest.skip(f"Slurm is not installed here (no {', '.join(missing)}): apt install slurm-wlm munge")
    with ExitStack() as made:
        disk = Path(tempfile.mkdtemp(prefix="ot-slurm-", dir="/tmp"))
        made.callback(shutil.rmtree, disk, ignore_errors=True)
        addresses = {"login": "10.0.0.1", **{name: f"10.0.0.{11 + i}" for i, name in enumerate(names)}}
        _write_files(disk, names, addresses)
        local = Path(tempfile.mkdtemp(prefix="ot", dir="/tmp"))
        made.callback(local.rmdir)
        switch = Host("switch", local, disk / "slurm" / "switch.out")
        made.callback(switch.kill)
        switch.run("ip", "link", "add", "lan", "type", "bridge")
        switch.run("ip", "link", "set", "lan", "up")
        hosts = {}
        for name, address in addresses.items():
            host = hosts[name] = Host(name, local, disk / "slurm" / f"{name}.out")
            made.callback(host.kill)
            host.connect(address, switch)
            host.run("mount", "--bind", str(disk), DISK)
            host.run("mount", "--bind", f"{DISK}/slurm/hosts", "/etc/hosts")
            host.run("bash", "-ec", f'{HIDE}\nhide /tmp "$@"; chmod 1777 /tmp', "hide", *NEEDED)
            host.output("mkdir", str(local), "/tmp/spool")
            _start_munge(host, made)
        login = hosts.pop("login")
        cluster = SlurmHere(disk, login, hosts)
        _daemon(made, login, "slurmctld", "-D")
        for host in hosts.values():
            _daemon(made, host, "slurmd", "-D")
        cluster.wait(
            lambda: (
                cluster.run("sinfo", "-hp", "small", "-o", "%T %D", status=None) == f"idle {len(names)}\n"
            ),
            "nodes idle",
            60,
        )
        yield cluster


def _write_files(disk: Path, names: tuple[str, ...], addresses: Mapping[str, str]) -> None:
    (disk / "home").mkdir()
    (disk / "slurm" / "state").mkdir(parents=True)
    nodes = "\n".join(
        f"NodeName={name} NodeAddr={addresses[name]} CPUs={CPUS} RealMemory=6000 State=UNKNOWN"
        for name in names
    )
    (disk / "slurm" / "slurm.conf").write_text(SLURM_CONF.format(disk=DISK, nodes=nodes))
    (disk / "slurm" / "hosts").write_text(
        "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in addresses.items())
    )
    key = disk / "slurm" / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)


def _start_munge(host: Host, made: ExitStack) -> None:
    host.run("cp", f"{DISK}/slurm/munge.key", "/tmp/munge.key")
    _daemon(
        made, host, "munged", "--foreground", "--force", "--socket=/tmp/munge.socket", "--key-file=/tmp/munge.key",
        "--log-file=/tmp/munged.log", "--pid-file=/tmp/munged.pid", "--seed-file=/tmp/munged.seed",
    )  # fmt: skip


def _daemon(made: ExitStack, host: Host, program: str, *options: str) -> None:
    process = host.begin("env", f"SLURM_CONF={DISK}/slurm/slurm.conf", f"/usr/sbin/{program}", *options)
    made.callback(process.wait)
    made.callback(process.kill)
