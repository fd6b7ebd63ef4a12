"""Whether hosts can be one cluster: versions, and other clusters on them."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.cluster.config import ClusterConfig
from overtone.cluster.local.host_facts import HostFacts
from overtone.cluster.remote import RemoteError
from overtone.version import __version__


def check_facts(config: ClusterConfig, facts: Mapping[str, HostFacts], noises: Mapping[str, bytes]) -> None:
    """Check what the hosts say of themselves.

    Args:
        config: The cluster's config.
        facts: The facts of each host, by its address.
        noises: What the shell of each host prints before a command, by its address.

    Raises:
        RemoteError: They cannot be one cluster; the message names every host that is in the way.
    """
    wrong = [text for address in config.hosts for text in _wrong_with(config, address, facts)]
    wrong += [
        f"{address}: its shell prints {_begin_of(noise)!r} before each command, which breaks copies; "
        "let ~/.bashrc print in interactive shells alone, by a first line: [[ $- == *i* ]] || return"
        for address, noise in noises.items()
        if noise
    ]
    if wrong:
        raise RemoteError("\n".join(wrong))


def _wrong_with(config: ClusterConfig, address: str, facts: Mapping[str, HostFacts]) -> list[str]:
    one, head = facts[address], facts[config.hosts[0]]
    wrong = []
    if not one.ray:
        wrong.append(f'{address}: Ray is not installed; run there: pip install "overtone[ray]"')
    elif (one.ray, one.python) != (head.ray, head.python):
        wrong.append(
            f"{address}: has Ray {one.ray} on Python {one.python}, and the head has Ray {head.ray} on Python "
            f"{head.python}; all hosts need the same versions: pip install ray=={head.ray}"
        )
    if one.overtone != __version__:
        wrong.append(
            f"{address}: has Overtone {one.overtone}, and this machine has {__version__}; run there: "
            f'pip install "overtone[ray]=={__version__}"'
        )
    if one.others:
        wrong.append(
            f"{address}: belongs to the cluster {' and '.join(one.others)}, which runs or is being started; "
            "take that down first, or leave the host out"
        )
    return wrong


def _begin_of(noise: bytes) -> str:
    text = noise.decode(errors="replace").strip()
    return text if len(text) <= 60 else f"{text[:60]}..."
