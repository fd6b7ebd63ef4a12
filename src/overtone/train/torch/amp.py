"""Mixed precision by three calls: `accelerate(amp=True)`, `prepare_optimizer` and `backward`."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from overtone.train.torch.devices import get_device


class _Precision:
    """The precision that `accelerate` chose in this process.

    Attributes:
        is_mixed: Whether models run under autocast.
        scaler: Scales losses of float16; None on CPUs, where bfloat16 needs none.
    """

    def __init__(self) -> None:
        self.is_mixed = False
        self.scaler: torch.amp.GradScaler | None = None


_precision = _Precision()


def accelerate(amp: bool = False) -> None:
    """Choose mixed precision for models that are prepared afterwards.

    Models then run under `torch.autocast`: float16 with scaled losses on GPUs, bfloat16 on CPUs. Call
    `prepare_optimizer` and `backward` with it.

    Args:
        amp: Whether to use mixed precision.
    """
    _precision.is_mixed = amp
    is_scaled = amp and get_device().type == "cuda"
    _precision.scaler = torch.amp.GradScaler("cuda") if is_scaled else None


def prepare_optimizer(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Return `optimizer`, whose `step` works on scaled gradients if `accelerate(amp=True)` chose float16."""
    scaler = _precision.scaler
    if scaler is None:
        return optimizer
    return _ScaledOptimizer(optimizer, scaler)


def backward(tensor: torch.Tensor) -> None:
    """Compute the gradients of a loss, scaled if `accelerate(amp=True)` chose float16."""
    scaler = _precision.scaler
    (tensor if scaler is None else scaler.scale(tensor)).backward()  # type: ignore[no-untyped-call]


def with_mixed_precision(model: nn.Module, device: torch.device) -> nn.Module:
    """Return `model`, whose `forward` runs under autocast if `accelerate(amp=True)` was called."""
    if not _precision.is_mixed:
        return model
    dtype = torch.float16 if device.type == "cuda" else torch.bfloat16
    forward = model.forward

    def mixed(*args: Any, **kwargs: Any) -> Any:
        with torch.autocast(device.type, dtype=dtype):
            outputs = forward(*args, **kwargs)
        return outputs.float() if isinstance(outputs, torch.Tensor) else outputs

    model.forward = mixed
    return model


class _ScaledOptimizer(torch.optim.Optimizer):
    """An optimizer whose steps are those of a gradient scaler."""

    def __init__(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler) -> None:
        self.__dict__.update(_optimizer=optimizer, _scaler=scaler)

    def step(self, closure: Any = None) -> Any:
        """Take a step with unscaled gradients, unless they overflowed; adapt the scale."""
        taken = self._scaler.step(self._optimizer, *(() if closure is None else (closure,)))
        self._scaler.update()
        return taken

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients."""
        self._optimizer.zero_grad(set_to_none)

    def __getattribute__(self, name: str) -> Any:
        if name in ("step", "zero_grad", "__class__", "__dict__", "_optimizer", "_scaler"):
            return object.__getattribute__(self, name)
        return getattr(object.__getattribute__(self, "_optimizer"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._optimizer, name, value)
