"""The meeting point of a gang's ranks: a store in the head, on a port that the system chose.

The head binds the port before any rank starts, and hands on the bound one: no two programs can choose the
same. Keys of each generation have a prefix of their own (`TORCHELASTIC_RESTART_COUNT`), so that a restarted
gang does not read what the old one wrote.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from torch.distributed import TCPStore  # type: ignore[attr-defined]

LOOPBACK = "127.0.0.1"


@contextmanager
def rendezvous(address: str = LOOPBACK, timeout_s: float = 1800.0) -> Iterator[Mapping[str, str]]:
    """Yield the variables by which ranks find the head's store, which lives as long as the block.

    They serve `init_process_group()` with "env://", and all that calls it: Lightning, Accelerate, scripts
    for torchrun.

    Args:
        address: The address of this host for the ranks; the loopback if all ranks are on this host.
        timeout_s: How long a rank waits for a key.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((address, 0))
        port = bound.getsockname()[1]
        store = TCPStore(
            host_name=address,
            port=port,
            is_master=True,
            timeout=timedelta(seconds=timeout_s),
            wait_for_workers=False,
            master_listen_fd=bound.detach(),  # the store closes it
        )
    try:
        yield {
            "MASTER_ADDR": address,
            "MASTER_PORT": str(port),
            "TORCHELASTIC_USE_AGENT_STORE": "True",
        }
    finally:
        del store
