"""Ranks that share a GPU, which NCCL does not support."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overtone.errors import ResourceError

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang


def refuse_shared_gpus(gang: Gang, backend: str | None) -> None:
    """Refuse two ranks on one GPU, before they would wait for each other in NCCL.

    Args:
        gang: Connected ranks.
        backend: That of the process group; None for nccl in ranks with GPUs.

    Raises:
        ResourceError: Two ranks have the same GPU, and the backend is nccl.
    """
    if backend in (None, "nccl"):
        check_gpus(gang.call(own_gpu, backend))


def own_gpu(backend: str | None) -> tuple[str, str]:
    """Return this rank's host and GPU; the GPU is "" if NCCL is not used."""
    from overtone.train.torch.devices import get_device

    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
    return socket.gethostname(), visible if backend == "nccl" or get_device().type == "cuda" else ""


def check_gpus(gpus: Sequence[tuple[str, str]]) -> None:
    """Check that no two ranks have one GPU.

    Args:
        gpus: Host and GPU of each rank.

    Raises:
        ResourceError: Two have the same; the message names the ranks.
    """
    owners: dict[tuple[str, str], int] = {}
    for rank, gpu in enumerate(gpus):
        other = owners.setdefault(gpu, rank)
        if gpu[1] and other != rank:
            raise ResourceError(
                f'rank {other} and rank {rank} share GPU {gpu[1]} of {gpu[0]}, which backend="nccl" does not '
                'support: give each rank a GPU, resources_per_worker={"GPU": 1}, or set '
                'TorchConfig(backend="gloo")'
            )
