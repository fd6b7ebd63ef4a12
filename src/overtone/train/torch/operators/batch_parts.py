"""Features and target of a batch, and checks of a step's metrics, for the default loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from overtone.errors import TrainableError, UsageError
from overtone.train.torch.operators.meters import NUM_SAMPLES, as_number


def parts_of(batch: Any, criterion: Any, device: torch.device) -> tuple[list[Any], torch.Tensor]:
    """Return the features and the target of a batch, on the device.

    Raises:
        UsageError: The batch is not (*features, target).
        TrainableError: There is no criterion.
    """
    if not isinstance(batch, (list, tuple)) or len(batch) < 2 or not isinstance(batch[-1], torch.Tensor):
        raise UsageError(
            f"a batch must be (*features, target), not a {type(batch).__name__}: define train_batch(self, "
            "batch, batch_info) and validate_batch(self, batch, batch_info) for other batches"
        )
    if criterion is None:
        raise TrainableError(
            "no criterion is registered, which the default loop needs: add register(..., criterion=...), "
            "such as "
            "torch.nn.CrossEntropyLoss(), or define train_batch"
        )
    moved = [part.to(device, non_blocking=True) if hasattr(part, "to") else part for part in batch]
    return moved[:-1], moved[-1]


def only(registered: Any) -> Any:
    """Return the object in a list or tuple of one, as `register` returns it if it was given so."""
    return registered[0] if isinstance(registered, (list, tuple)) and len(registered) == 1 else registered


def checked(metrics: Any, method: str) -> Mapping[str, Any]:
    """Return the metrics of a batch.

    Args:
        method: What returned them, for messages.

    Raises:
        UsageError: They are not a mapping, or lack the number of samples.
    """
    if not isinstance(metrics, Mapping):
        raise UsageError(f'{method} must return a dict with "num_samples", not {type(metrics).__name__}')
    if NUM_SAMPLES not in metrics:
        raise UsageError(
            f'{method} returned {sorted(map(str, metrics))} without "num_samples", the size of the batch: '
            "means "
            'are weighted by it; add "num_samples": target.size(0)'
        )
    as_number(NUM_SAMPLES, metrics[NUM_SAMPLES])
    return metrics
