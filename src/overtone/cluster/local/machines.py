"""Machines that another provider makes, as hosts: what `providers.local` starts and reaches over SSH."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from overtone.cluster.config import ClusterConfig
from overtone.cluster.durations import duration_text
from overtone.cluster.local.hosts import Hosts
from overtone.cluster.progress import Progress
from overtone.cluster.state import State
from overtone.errors import OvertoneError

_PAUSE_S = 3.0


def on_hosts(config: ClusterConfig, addresses: Sequence[str]) -> ClusterConfig:
    """Return the config with these machines as its hosts: the first is the head, all others are workers.

    Args:
        config: The cluster's config, whose provider may have the settings `user`, `ssh_key` and `port`.
        addresses: The machines' names or addresses for SSH.

    Raises:
        OvertoneError: There is no address.
    """
    if not addresses:
        raise OvertoneError(f"cluster {config.name} has no machine")
    settings = {**config.provider.settings, "hosts": tuple(addresses)}
    n_workers = len(addresses) - 1
    return replace(
        config,
        provider=replace(config.provider, settings=settings),
        head=addresses[0],
        workers=replace(config.workers, min=n_workers, max=n_workers),
    )


def wait_until_ready(
    config: ClusterConfig, state: State, progress: Progress, within_s: float = 600.0
) -> None:
    """Wait until each host answers over SSH and has Overtone in the Python of its login shell.

    Args:
        config: A config with hosts; see `on_hosts`.
        state: The cluster's records.
        progress: Says, once each, which hosts are waited for, and why.
        within_s: Seconds to wait.

    Raises:
        OvertoneError: A host is not ready by then; the message says why.
    """
    hosts, said = Hosts(config, state.folder), ""
    deadline = time.monotonic() + within_s
    try:
        while True:
            _, errors = hosts.try_each(lambda address, _: hosts.facts(address))
            if not errors:
                return
            if time.monotonic() > deadline:
                why = str(next(iter(errors.values())))
                raise OvertoneError(f"{', '.join(errors)} not ready within {duration_text(within_s)}: {why}")
            text = f"waiting for {', '.join(errors)}: {str(next(iter(errors.values()))).splitlines()[0]}"
            if text != said:
                progress.note(text)
                said = text
            time.sleep(_PAUSE_S)
    finally:
        hosts.close()
