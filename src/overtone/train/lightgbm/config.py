"""The network of LightGBM among ranks: the address of each, which all are told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overtone.train.backend import BackendConfig
from overtone.train.reserved_ports import reserve_address

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang

_network: dict[str, Any] = {}
"""In a rank: LightGBM's parameters of the network."""


@dataclass
class LightGBMConfig(BackendConfig):
    """Options for LightGBM's network.

    Attributes:
        timeout_s: Longest time that a rank may let the others wait in `report`, in seconds.
    """

    timeout_s: float = 1800.0

    @contextmanager
    def head_context(self, gang: Gang) -> Iterator[None]:
        """Reserve a port in each rank, and tell all ranks the addresses of all."""
        machines = gang.call(reserve_address)
        gang.call(keep_network, machines)
        yield


def get_network_params() -> dict[str, Any]:
    """Return the parameters that make `lightgbm.train` a training of all ranks.

    A worker of a `LightGBMTrainer` passes them on: `lightgbm.train({**params, **get_network_params()}, ...)`.
    LightGBM's ranks are in the order of the workers. Elsewhere it warns, and there are no parameters.
    """
    if not _network:
        warnings.warn(
            "get_network_params(): no LightGBMTrainer runs here, so that this training is of one process",
            stacklevel=2,
        )
    return dict(_network)


def keep_network(machines: list[str]) -> None:
    """Keep the addresses of all ranks; the head has each rank call it."""
    from overtone.worker.session.current import current

    _network.clear()
    if len(machines) > 1:
        _network["machines"] = ",".join(machines)
        own = machines[current().get_world_rank()]
        _network["local_listen_port"] = int(own.rpartition(":")[2])
    _network["num_machines"] = len(machines)
