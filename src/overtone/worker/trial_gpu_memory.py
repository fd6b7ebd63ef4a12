"""The GPU memory of the trial in this process: its soft limit, its peak, and the end of it."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from overtone.core.messages import Start

CUDA = "torch.cuda"

_EXCESS = re.compile(
    r"(CUDA|HIP|GPU)\b.*out of memory|CUDA_ERROR_OUT_OF_MEMORY|RESOURCE_EXHAUSTED: Out of memory|"
    r"OOM when allocating",
    re.IGNORECASE | re.DOTALL,
)
"""How PyTorch, CuPy, JAX and TensorFlow say that a GPU's memory is spent."""


def is_counted(start: Start) -> bool:
    """Return whether the trial asked for GPU memory."""
    demand = start.resources
    return any(start.placement.gpus) and (demand.auto is not None or demand.gpu_memory > 0)


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error, or one that it came from, says that a GPU's memory is spent."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kind = type(error)
        if kind.__name__ == "OutOfMemoryError" and kind.__module__.partition(".")[0] in ("torch", "cupy"):
            return True
        if isinstance(error, Exception) and _EXCESS.search(str(error)):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


def limit(start: Start) -> None:
    """Let PyTorch fail where the trial would use more than it reserved, rather than other trials.

    It counts from the first use of CUDA on, also if PyTorch is imported later. A trial with whole GPUs has
    no limit.
    """
    reserved = start.resources.gpu_memory
    if not reserved or start.resources.is_alone:
        return
    cuda = sys.modules.get(CUDA)
    if cuda is not None:
        _limit(cuda, reserved)
    else:
        sys.meta_path.insert(0, _AtImport(lambda module: _limit(module, reserved)))


def peak(start: Start) -> float:
    """Return the most bytes that PyTorch has reserved on one GPU in this process; 0.0 if nobody asks."""
    cuda: Any = sys.modules.get(CUDA) if start.resources.auto is not None else None
    with suppress(Exception):
        if cuda is not None and cuda.is_initialized():
            return float(max(cuda.max_memory_reserved(index) for index in range(cuda.device_count())))
    return 0.0


def _limit(cuda: Any, reserved: float) -> None:
    """Limit the memory of each GPU once CUDA is in use: using it here would break forks of the trial."""

    def set_fraction() -> None:
        with suppress(Exception):  # an error here would be raised where the trial first uses CUDA
            for index in range(cuda.device_count()):
                total = cuda.get_device_properties(index).total_memory
                cuda.set_per_process_memory_fraction(min(1.0, reserved / total), index)

    with suppress(AttributeError):
        cuda._lazy_call(set_fraction)


class _AtImport(MetaPathFinder):
    """Calls a function with `torch.cuda` when it has been imported, once."""

    def __init__(self, call: Callable[[ModuleType], None]) -> None:
        self._call = call

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of `torch.cuda` as other finders do, with the call added."""
        if name != CUDA or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = spec and spec.loader
        if loader is not None:
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._call(module)

            loader.exec_module = exec_module
        return spec
