"""The node provider of a cluster of hosts, for Ray's autoscaler on the head.

Ray has one for hosts, too. This one differs: it checks host keys, knows ports and the resources of each host,
keeps its record in the user's home, and ends the processes of a node that is released.
"""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path
from typing import Any

from ray.autoscaler._private.command_runner import SSHCommandRunner, SSHOptions
from ray.autoscaler.node_provider import NodeProvider

from overtone.cluster.head_python import python_command
from overtone.cluster.local.host_record import KEY, KNOWN_HOSTS, folder
from overtone.cluster.local.node_record import KIND, STATUS, TYPE, Tags, change, node_type, nodes
from overtone.cluster.remote import login_command

END_S = 30
"""Seconds in which the processes of a node must have ended."""

log = logging.getLogger(__name__)


class HostProvider(NodeProvider):  # type: ignore[misc]
    """Starts and ends Ray on hosts that are there already. A node's id is the host's address in the config.

    `provider_config["hosts"]` has the "ip", "port", "user" and "alias" of each host, by its address, and
    `"head"` names the address of the head.
    """

    def __init__(self, provider_config: dict[str, Any], cluster_name: str) -> None:
        super().__init__(provider_config, cluster_name)
        self._hosts: dict[str, dict[str, Any]] = provider_config["hosts"]
        head = provider_config["head"]
        tags = {KIND: "head", TYPE: "head", STATUS: "up-to-date"}
        change(lambda found: found.setdefault(head, tags))

    # what is there

    def non_terminated_nodes(self, tag_filters: Tags) -> list[str]:
        """Return the nodes that have these tags."""
        return [name for name, tags in nodes().items() if tag_filters.items() <= tags.items()]

    def is_running(self, node_id: str) -> bool:
        """Return whether a host is a node."""
        return node_id in nodes()

    def is_terminated(self, node_id: str) -> bool:
        """Return whether a host is not a node."""
        return node_id not in nodes()

    def node_tags(self, node_id: str) -> Tags:
        """Return the tags of a node; {} if it is none."""
        return nodes().get(node_id, {})

    def internal_ip(self, node_id: str) -> str:
        """Return the address at which the head reaches a host."""
        return str(self._hosts[node_id]["ip"])

    def external_ip(self, node_id: str) -> str:
        """Return the same as `internal_ip`."""
        return self.internal_ip(node_id)

    # changes

    def set_node_tags(self, node_id: str, tags: Tags) -> None:
        """Add tags to a node; a host that is no longer one is left alone."""
        change(lambda found: found[node_id].update(tags) if node_id in found else None)

    def create_node(self, node_config: dict[str, Any], tags: Tags, count: int) -> None:
        """Make the host of this type a node. Ray's updater starts Ray on it afterwards."""

        def add(found: dict[str, Tags]) -> None:
            for address in self._hosts:
                if node_type(address) == tags[TYPE]:
                    found.setdefault(address, dict(tags))

        change(add)

    def terminate_node(self, node_id: str) -> None:
        """End the cluster's processes on a host, which is then no longer a node.

        A host that cannot be reached is given up: its own guard ends the processes when Ray's daemon there
        has lost the head.
        """
        command = python_command(f"-m overtone.cluster.node_guard --end {self.cluster_name}")
        options = _options(self._hosts[node_id], node_id).to_ssh_options_list(timeout=10)
        target = f"{self._hosts[node_id]['user']}@{self.internal_ip(node_id)}"
        try:
            done = subprocess.run(
                ["ssh", *options, target, login_command(command)],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=END_S, check=False,
            )  # fmt: skip
            if done.returncode:
                log.warning("%s: %s", node_id, done.stdout + done.stderr)
        except subprocess.TimeoutExpired:
            log.warning("%s: its processes did not end within %s s", node_id, END_S)
        change(lambda found: found.pop(node_id, None))

    def get_command_runner(self, *args: Any, **kwargs: Any) -> SSHCommandRunner:
        """Return Ray's runner of commands over SSH, with the host's port and a check of its key."""
        runner = super().get_command_runner(*args, **kwargs)
        runner.ssh_options = _options(
            self._hosts[runner.node_id], runner.node_id, control_path=runner.ssh_control_path
        )
        return runner

    @staticmethod
    def bootstrap_config(cluster_config: dict[str, Any]) -> dict[str, Any]:
        """Return the config as it is."""
        return cluster_config


def _options(host: dict[str, Any], address: str, **more: Any) -> SSHOptions:
    own: Path = folder()
    return SSHOptions(
        str(own / KEY),
        StrictHostKeyChecking="yes",
        UserKnownHostsFile=str(own / KNOWN_HOSTS),
        HostKeyAlias=host["alias"],
        Port=host["port"],
        BatchMode="yes",
        **more,
    )
