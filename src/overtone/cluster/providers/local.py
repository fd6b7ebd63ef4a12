"""Hosts that are there already, over SSH: `provider: {type: local, hosts: [...], user:, ssh_key:, port:}`."""

from __future__ import annotations

from overtone.cluster.config import ClusterConfig
from overtone.cluster.local.autoscaler_form import autoscaler_config
from overtone.cluster.local.claims import end_options, is_anothers, lives
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.local.hosts import Hosts
from overtone.cluster.progress import Progress
from overtone.cluster.provider import SSH, About, Resource, Setting
from overtone.cluster.ray_form import yaml_text
from overtone.cluster.ssh_remote import SSHRemote
from overtone.cluster.state import State
from overtone.cluster.touched_hosts import touched

ENDS_S = 60.0
"""Seconds that a host has to end its processes."""


ABOUT = About(
    settings={
        "hosts": Setting("texts", "[10.0.0.1, 10.0.0.2]", True),
        **SSH,
    },
    left="on the head ~/overtone_work/{name}, the results in ~/overtone_results, and the output of runs in "
    "~/.overtone/cluster/runs; on each host what setup installs",
    place=("user",),
    machine_types="none",
    is_rented=False,
)


def check(config: ClusterConfig) -> str:
    """Check the hosts of a config, without the network.

    Returns:
        The YAML of Ray's autoscaler on the head, without what only the hosts know: their resources.

    Raises:
        ConfigError: A host is not one; the message names the line.
    """
    for at, host in enumerate(config.provider.settings["hosts"]):
        if not host or host.startswith("-") or any(one.isspace() or one in "'\"@/" for one in host):
            raise config.error(
                f"provider.hosts.{at}", "must be a name or an address without a user, such as 10.0.0.1", host
            )
    if config.workers.spot:
        raise config.error("workers.spot", "must be false: hosts are not bought", True)
    settings = config.provider.settings
    login = HostFacts(user=settings.get("user", ""), port=settings.get("port", 22))
    return yaml_text(autoscaler_config(config, dict.fromkeys(config.hosts, login), config.workers.min))


def find(config: ClusterConfig) -> list[Resource]:
    """Return what exists on the hosts: those with processes of the cluster, its files and its keys.

    A host that does not answer counts as one with processes, since nobody knows what runs there; one on which
    this machine has done nothing does not.
    """
    hosts = _hosts(config)
    found, errors = hosts.try_each(lambda address, _: hosts.facts(address), touched(config))
    known = lives(State(config.name))
    left = [
        one
        for address, facts in found.items()
        if not is_anothers(facts, known)
        for one in _resources(address, facts)
    ]
    return [*left, *(Resource("host", address, str(error)) for address, error in errors.items())]


def start(config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
    """Start the cluster, or what is missing of it.

    Raises:
        RemoteError: A host cannot be used; the message names it.
        UnreachableError: A host does not answer, or refuses.
    """
    from overtone.cluster.local.start import start as start_hosts

    start_hosts(config, _hosts(config), state, progress)


def stop(config: ClusterConfig, state: State, progress: Progress) -> None:
    """End the cluster on each host: the head first, whose autoscaler would start workers again.

    Hosts that do not answer are left; `find` names them.
    """
    hosts = _hosts(config)
    options = end_options(state)
    for is_head in (True, False):
        some = [address for address in touched(config) if (address == hosts.head) == is_head]
        _, errors = hosts.try_each(lambda address, _: hosts.facts(address, options, ENDS_S), some)
        for error in errors.values():
            progress.warn(str(error))


def reach(config: ClusterConfig, state: State) -> SSHRemote:
    """Return the head."""
    hosts = _hosts(config)
    return hosts[hosts.head]


def _hosts(config: ClusterConfig) -> Hosts:
    state = State.open(config)
    return Hosts(config, state.folder, state.info().get("touched") or ())


def _resources(address: str, facts: HostFacts) -> list[Resource]:
    found = []
    if facts.processes:
        names = ", ".join(sorted({name for name, _ in facts.processes}))
        state = f"{len(facts.processes)} processes run: {names}"
        found.append(Resource("host", address, state, min(since for _, since in facts.processes)))
    if facts.files:
        found.append(Resource("files", f"{address}:~/.overtone/cluster", ", ".join(facts.files)))
    if facts.has_key:
        found.append(Resource("key", f"{address}:~/.ssh/authorized_keys", "the head may log in"))
    return found
