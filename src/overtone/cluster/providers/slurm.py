"""Clusters that are jobs of Slurm: one job is one cluster, its first node the head.

The shared disk holds what outlives a node: `~/.overtone/slurm/NAME/`, with the token (mode 0600), the
settings of the job's program, its log and the user's commands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overtone.cluster.provider import SSH, About, Resource, Setting
from overtone.cluster.remote import Remote, home_path
from overtone.cluster.slurm.commands import Slurm, SlurmError
from overtone.cluster.slurm.logins import login_node, node_remote
from overtone.cluster.slurm.remote import SlurmRemote
from overtone.cluster.slurm.script import folder, script
from overtone.cluster.slurm.starting import start_job

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.progress import Progress
    from overtone.cluster.state import State

_LOGIN = re.compile(r"(?:[\w.-]+@)?[\w.:-]+")

ABOUT = About(
    settings={
        "partition": Setting("text", "gpu"),
        "account": Setting("text", "my-account"),
        "qos": Setting("text", "normal"),
        "constraint": Setting("text", "a100"),
        "login": Setting("text", "me@login.example.org"),
        "ssh_key": SSH["ssh_key"],
        "port": SSH["port"],
    },
    left="~/overtone_work/{name} and the results in ~/overtone_results, in your home folder",
    place=("login",),
    worker="cpus=4,gpus=1",
    is_rented=False,  # The job's own program ends the job.
    requeues=True,
)


def check(config: ClusterConfig) -> str:
    """Check the config without the network, and return the batch script of the cluster's job.

    Raises:
        ConfigError: It cannot be used on Slurm.
    """
    login = config.provider.settings.get("login")
    if login is not None and (not _LOGIN.fullmatch(login) or login.startswith("-")):
        raise config.error("provider.login", "must be a host, such as me@login.example.org", login)
    return script(config)


def find(config: ClusterConfig) -> list[Resource]:
    """Return the jobs of this cluster that are queued, running or ending."""
    return [
        Resource(
            "job",
            job.id,
            job.state.lower(),
            job.started if job.is_running else job.submitted,
            config.workers.type,
        )
        for job in Slurm(login_node(config)).jobs(config.name)
    ]


def start(config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
    """Submit the job of a cluster, unless there is one, and wait until Ray is up on its nodes.

    Raises:
        ConfigError: Slurm has no such partition.
        SlurmError: Slurm refuses the job, or it ended.
    """
    start_job(config, state, progress, ends_with_run=for_run)


def stop(config: ClusterConfig, state: State, progress: Progress) -> None:
    """Cancel the cluster's jobs, wait until their processes are gone, and remove the token.

    Raises:
        SlurmError: Slurm does not end a job within 90 s.
    """
    login = login_node(config)
    slurm = Slurm(login)
    slurm.cancel(slurm.jobs(config.name))
    if left := slurm.wait_until_gone(config.name):
        words = ", ".join(f"{job.id} ({job.state}, {job.reason})" for job in left)
        raise SlurmError(
            f"Slurm has not ended job {words} within 90 s: ask its administrator; squeue shows its state"
        )
    here = home_path(folder(config.name))
    login.run(f"rm -rf {here}/token {here}/begin {here}/nodes {here}/head.json")


def reach(config: ClusterConfig, state: State) -> Remote:
    """Return the first node of the cluster's job."""
    return SlurmRemote(login_node(config), config.name, lambda node: node_remote(config, node))
