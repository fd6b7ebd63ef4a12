"""Settings under which a training repeats itself."""

from __future__ import annotations

import os
import random
import sys

import torch


def enable_reproducibility(seed: int = 0) -> None:
    """Seed Python, NumPy (if it is imported) and PyTorch, and choose deterministic algorithms.

    Algorithms of PyTorch that cannot be deterministic then raise. Processes of data loaders get seeds
    that follow from PyTorch's.

    Args:
        seed: The seed of all generators, the same in each rank.
    """
    random.seed(seed)
    torch.manual_seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed % 2**32)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # without it deterministic cuBLAS calls raise
