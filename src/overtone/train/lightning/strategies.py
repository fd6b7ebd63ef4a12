"""Strategies of Lightning on the devices of the trainer's ranks."""

from __future__ import annotations

from typing import Any

import torch

from overtone.train.lightning.library import strategies
from overtone.train.torch.devices import get_device


class _OnOwnDevice:
    """Each rank uses its own device, and its part of the data by its rank among all."""

    world_size: int
    global_rank: int

    @property
    def root_device(self) -> torch.device:
        """The device of this rank: its GPUs are numbered from 0 in each rank."""
        return get_device()

    @property
    def distributed_sampler_kwargs(self) -> dict[str, Any]:
        """Arguments of the sampler that Lightning gives data loaders."""
        return {"num_replicas": self.world_size, "rank": self.global_rank}


class RayDDPStrategy(_OnOwnDevice, strategies.DDPStrategy):  # type: ignore[misc,name-defined,unused-ignore]
    """DistributedDataParallel in the trainer's ranks: the arguments are those of Lightning's DDPStrategy.

    The process group is the trainer's: its backend and timeout are those of `TorchConfig`.
    """


class RayFSDPStrategy(_OnOwnDevice, strategies.FSDPStrategy):  # type: ignore[misc,name-defined,unused-ignore]
    """FullyShardedDataParallel in the trainer's ranks, on GPUs: the arguments are those of FSDPStrategy."""


class RayDeepSpeedStrategy(_OnOwnDevice, strategies.DeepSpeedStrategy):  # type: ignore[misc,name-defined,unused-ignore]
    """DeepSpeed in the trainer's ranks: the arguments are those of Lightning's DeepSpeedStrategy."""
