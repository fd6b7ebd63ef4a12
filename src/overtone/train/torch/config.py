"""The process group of a training's ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import torch
import torch.distributed as dist

from overtone.errors import ArgumentError
from overtone.train.backend import BackendConfig
from overtone.train.torch.devices import get_device
from overtone.train.torch.process_groups import keep_process_groups
from overtone.train.torch.rendezvous import rendezvous
from overtone.train.torch.shared_gpus import refuse_shared_gpus

if TYPE_CHECKING:
    from overtone.worker.gang.gang import Gang


@dataclass
class TorchConfig(BackendConfig):
    """Settings of the process group that the ranks of a training join.

    Attributes:
        backend: "gloo", "nccl" or another of `torch.distributed`; None for nccl with GPUs, else gloo.
        init_method: "env" or "tcp"; both meet at the head's store.
        timeout_s: Longest time of a collective operation, in seconds.

    Raises:
        ArgumentError: `init_method` is unknown, or `timeout_s` is not positive.
    """

    backend: str | None = None
    init_method: str = "env"
    timeout_s: float = 1800

    def __post_init__(self) -> None:
        if self.init_method not in ("env", "tcp"):
            raise ArgumentError(f'init_method={self.init_method!r}: must be "env" or "tcp"')
        if not isinstance(self.timeout_s, (int, float)) or not self.timeout_s > 0:
            raise ArgumentError(f"timeout_s={self.timeout_s!r}: must be a number above 0, in seconds")

    @contextmanager
    def head_context(self, gang: Gang) -> Iterator[None]:
        refuse_shared_gpus(gang, self.backend)
        with rendezvous(gang.address, self.timeout_s) as variables:
            gang.update_environment(variables)
            yield

    @contextmanager
    def rank_context(self) -> Iterator[None]:
        device = get_device()
        if device.type == "cuda":
            torch.cuda.set_device(device)
        keep_process_groups()
        backend = self.backend or ("nccl" if device.type == "cuda" else "gloo")
        dist.init_process_group(backend, timeout=timedelta(seconds=self.timeout_s))
        yield
        if dist.is_initialized():  # the user's code may have ended it
            dist.destroy_process_group()
