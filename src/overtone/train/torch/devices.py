"""The devices of a rank."""

from __future__ import annotations

import torch


def get_device() -> torch.device:
    """Return the device of this rank: its first GPU, or the CPU if it has none."""
    return get_devices()[0]


def get_devices() -> list[torch.device]:
    """Return the devices of this rank: its GPUs, or the CPU if it has none.

    A rank sees its own GPUs alone, so that they are numbered from 0 in each rank.
    """
    if not torch.cuda.is_available():
        return [torch.device("cpu")]
    return [torch.device("cuda", index) for index in range(torch.cuda.device_count())]
