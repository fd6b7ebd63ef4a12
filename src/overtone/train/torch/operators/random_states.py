"""The states of random generators as plain data and tensors, which `torch.load(weights_only=True)` reads."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

from overtone.worker.gpus import is_cuda_initialised


def capture() -> dict[str, Any]:
    """Return the states of the generators of Python, NumPy, PyTorch and the current GPU."""
    states: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if (numpy := sys.modules.get("numpy")) is not None:
        name, keys, *rest = numpy.random.get_state()
        states["numpy"] = [str(name), torch.from_numpy(keys.astype("int64")), *map(_plain, rest)]
    if is_cuda_initialised():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def restore(states: dict[str, Any]) -> None:
    """Set the generators to `states`; a generator that is not named keeps its state."""
    if "python" in states:
        version, numbers, following = states["python"]
        random.setstate((version, tuple(numbers), following))
    if "torch" in states:
        torch.set_rng_state(states["torch"].cpu())
    if "numpy" in states:
        import numpy as np

        name, keys, *rest = states["numpy"]
        np.random.set_state((name, keys.numpy().astype("uint32"), *rest))
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"].cpu())


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
