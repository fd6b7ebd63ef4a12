"""Models in several ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from overtone.errors import ArgumentError
from overtone.train.torch.amp import with_mixed_precision
from overtone.train.torch.devices import get_device
from overtone.train.torch.world import world_size

STRATEGIES = ("ddp", "fsdp", None)


def prepare_model(
    model: nn.Module,
    move_to_device: bool | torch.device = True,
    parallel_strategy: str | None = "ddp",
    parallel_strategy_kwargs: Mapping[str, Any] | None = None,
) -> nn.Module:
    """Return the model for training in several ranks: on the rank's device, and wrapped.

    Outside of ranks, or with one rank, the model is only moved to its device.

    Args:
        model: The model, with the same parameters in each rank, or those of rank 0 count.
        move_to_device: Whether to move the model to the rank's device; or the device.
        parallel_strategy: "ddp" for DistributedDataParallel, "fsdp" for FullyShardedDataParallel (on GPUs),
            or None.
        parallel_strategy_kwargs: Arguments of the wrapper, such as {"find_unused_parameters": True}.

    Raises:
        ArgumentError: The strategy is unknown, or "fsdp" without a GPU.
    """
    if parallel_strategy not in STRATEGIES:
        raise ArgumentError(f'parallel_strategy={parallel_strategy!r}: must be "ddp", "fsdp" or None')
    device = move_to_device if isinstance(move_to_device, torch.device) else get_device()
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if move_to_device:
        model = model.to(device)
    model = with_mixed_precision(model, device)
    if parallel_strategy is None or world_size() == 1:
        return model
    options = dict(parallel_strategy_kwargs or {})
    if parallel_strategy == "fsdp":
        if device.type == "cpu":
            raise ArgumentError(
                'parallel_strategy="fsdp" needs a GPU in each rank: set ScalingConfig(use_gpu=True), '
                'or use parallel_strategy="ddp"'
            )
        from torch.distributed.fsdp import FullyShardedDataParallel

        return FullyShardedDataParallel(model, **options)
    if device.type == "cuda":
        options = {"device_ids": [device], "output_device": device, **options}
    return nn.parallel.DistributedDataParallel(model, **options)
