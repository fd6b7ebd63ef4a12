"""Process groups of a rank, which are kept until its process ends.

A model under DistributedDataParallel owns its process group. If `destroy_process_group` was called before the
model is dropped, dropping it destroys the group, which holds Python's global lock while it waits for a thread
of gloo; and that thread may wait for the lock. A script that ends with `destroy_process_group()` hangs so now
and then. A group that is kept is not destroyed with its model.
"""

from __future__ import annotations

import functools
import os
import socket
from contextlib import suppress
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d

from overtone.worker.open_descriptors import open_descriptors

_kept: list[Any] = []
_connections: set[str] = set()
"""The sockets of the kept groups, as "socket:[inode]"."""


def keep_process_groups() -> None:
    """Keep the process groups that `init_process_group` makes in this process from now on."""
    make = dist.init_process_group
    if hasattr(make, "keeps_groups"):
        return

    @functools.wraps(make)
    def init_process_group(*args: Any, **kwargs: Any) -> None:
        before = _sockets().keys()
        make(*args, **kwargs)
        _kept.append(dist.group.WORLD)
        _connections.update(_sockets().keys() - before)

    init_process_group.keeps_groups = True  # type: ignore[attr-defined]
    dist.init_process_group = distributed_c10d.init_process_group = init_process_group


def hang_up() -> None:
    """Close the connections of the kept groups, as the end of this process would.

    Ranks that wait for this one in a collective fail then, and do not wait for the timeout.
    """
    for name, descriptor in _sockets().items():
        if name in _connections:
            with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
                if not connection.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):  # gloo dies of that
                    connection.shutdown(socket.SHUT_RDWR)
    _connections.clear()


def _sockets() -> dict[str, int]:
    """Return the descriptors of this process's sockets by name."""
    return {name: descriptor for descriptor, name in open_descriptors() if name.startswith("socket:")}
