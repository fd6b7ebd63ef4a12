"""Mixed precision with torch.amp: models compute in 16 bits, and their parameters stay float32."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from overtone.errors import ArgumentError
from overtone.standard_streams import say

OPT_LEVELS = ("O0", "O1", "O2", "O3")
_LIKE_O1 = ("O2", "O3")


class Precision:
    """The precision of an operator's models: float32, or mixed.

    On a GPU, mixed precision is float16 with a gradient scaler; on a CPU it is bfloat16, which needs none.

    Args:
        is_mixed: Whether to compute in 16 bits.
        device: The models' device.

    Attributes:
        scaler: The `torch.amp.GradScaler`; does nothing unless models compute in float16.
    """

    def __init__(self, is_mixed: bool, device: torch.device) -> None:
        self._device = device.type
        self._dtype = torch.float16 if device.type == "cuda" else torch.bfloat16
        self._set(is_mixed)

    def _set(self, is_mixed: bool) -> None:
        self.is_mixed = is_mixed
        is_scaled = is_mixed and self._dtype == torch.float16
        self.scaler = torch.amp.GradScaler(self._device, enabled=is_scaled)

    def choose(self, apex_args: Mapping[str, Any] | None, is_first: bool) -> None:
        """Take up the arguments that a script wrote for NVIDIA's apex.

        Args:
            apex_args: {"opt_level": level}: O0 is float32; O1, O2 and O3 are torch.amp.
            is_first: Whether this worker prints advice.

        Raises:
            ArgumentError: There is another argument or another level.
        """
        given = dict(apex_args or {})
        level = given.pop("opt_level", None)
        if given:
            raise ArgumentError(
                f"apex_args={apex_args!r}: {next(iter(given))!r} is not an argument of torch.amp, which "
                "takes the "
                'place of apex; only "opt_level" is allowed, such as {"opt_level": "O1"}'
            )
        if level is None:
            return
        if level not in OPT_LEVELS:
            raise ArgumentError(
                f"apex_args={apex_args!r}: opt_level must be one of {', '.join(OPT_LEVELS)}, such as "
                '{"opt_level": "O1"}'
            )
        if level == "O0" and self.is_mixed:
            self._set(False)
        if level in _LIKE_O1 and self.is_mixed and is_first:
            say(
                f'apex_args={{"opt_level": "{level}"}} runs as torch.amp, which keeps the parameters in '
                "float32: "
                'write "O1", or leave apex_args out'
            )

    def wrap(self, model: torch.nn.Module) -> torch.nn.Module:
        """Let `model` compute in mixed precision wherever it is called; its outputs are float32."""
        if self.is_mixed and not getattr(model.forward, "is_mixed", False):
            model.forward = self._mixed(model.forward)
        return model

    def _mixed(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(forward)
        def mixed(*args: Any, **kwargs: Any) -> Any:
            with torch.autocast(self._device, self._dtype):
                output = forward(*args, **kwargs)
            return _as_float32(output)

        mixed.is_mixed = True  # type: ignore[attr-defined]
        return mixed

    def backward(self, loss: torch.Tensor) -> None:
        """Compute gradients of `loss`, scaled if models compute in float16."""
        torch.autograd.backward(self.scaler.scale(loss))

    def step(self, optimizer: torch.optim.Optimizer) -> None:
        """Update parameters from the gradients of the last `backward`."""
        if not self.scaler.is_enabled():
            optimizer.step()
            return
        self.scaler.step(optimizer)
        self.scaler.update()


def unwrapped(model: torch.nn.Module) -> torch.nn.Module:
    """Return the user's own module below DistributedDataParallel."""
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        return model.module  # type: ignore[no-any-return]
    return model


def _as_float32(output: Any) -> Any:
    """Return `output` with all tensors of 16 bits in it as float32."""
    if isinstance(output, torch.Tensor):
        return output.float() if output.dtype in (torch.float16, torch.bfloat16) else output
    if isinstance(output, Mapping):
        kind: Any = type(output)
        return kind({key: _as_float32(value) for key, value in output.items()})
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*map(_as_float32, output))
    if isinstance(output, (list, tuple)):
        return type(output)(map(_as_float32, output))
    return output
