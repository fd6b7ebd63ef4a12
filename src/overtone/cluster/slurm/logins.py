"""The machines of a site with Slurm over SSH: its login node, and the nodes of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.remote import Remote
from overtone.cluster.slurm.here import LocalRemote
from overtone.cluster.ssh_remote import SSHRemote
from overtone.cluster.state import State


def login_node(config: ClusterConfig) -> Remote:
    """Return the node on which Slurm's commands run: this machine, or the login node over SSH."""
    settings = config.provider.settings
    login = settings.get("login")
    if login is None:
        return LocalRemote()
    return _ssh(config, login, settings.get("port"))


def _ssh(config: ClusterConfig, login: str, port: Any = None, proxy: str | None = None) -> SSHRemote:
    user, _, host = login.rpartition("@")
    key = config.provider.settings.get("ssh_key")
    return SSHRemote(
        host, user=user or None, port=port, proxy=proxy, key=None if key is None else Path(key).expanduser(),
        known_hosts=State.open(config).folder / "known_hosts",
    )  # fmt: skip


def node_remote(config: ClusterConfig, node: str) -> Remote:
    """Return a node of the job itself, through the login node if that is another machine."""
    login = config.provider.settings.get("login")
    if login is None:
        return _ssh(config, node)
    user = login.rpartition("@")[0]
    through = _ssh(config, login, config.provider.settings.get("port")).proxy_command()
    return _ssh(config, f"{user}@{node}" if user else node, proxy=through)
