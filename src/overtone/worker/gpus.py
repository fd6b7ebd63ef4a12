"""Detection of GPUs, and the GPUs that a trial sees."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from overtone.core.messages import Start
from overtone.core.resources import Placement
from overtone.errors import ResourceError
from overtone.worker.open_descriptors import open_descriptors

VARIABLE = "CUDA_VISIBLE_DEVICES"


def detect(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the ids of this machine's GPUs as in CUDA_VISIBLE_DEVICES; () without pynvml."""
    return visible_ids(environment.get(VARIABLE), _count())


def visible_ids(variable: str | None, count: int) -> tuple[str, ...]:
    """Return the ids that CUDA would use, of `count` GPUs, if CUDA_VISIBLE_DEVICES is `variable`.

    As CUDA does, the list ends at the first id that does not exist.
    """
    if variable is None:
        return tuple(str(index) for index in range(count))
    ids: list[str] = []
    for one in (part.strip() for part in variable.split(",")):
        named = one.startswith(("GPU-", "MIG-"))
        if one in ids or not (named or (one.isdecimal() and int(one) < count)):
            break
        ids.append(one)
    return tuple(ids) if count else ()


def declared_ids(count: int, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return ids for `count` declared GPUs: the first of CUDA_VISIBLE_DEVICES, or 0, 1, ...

    Raises:
        ResourceError: CUDA_VISIBLE_DEVICES lists fewer than `count`.
    """
    variable = environment.get(VARIABLE)
    if variable is None:
        return tuple(str(index) for index in range(count))
    ids = tuple(part.strip() for part in variable.split(",") if part.strip())
    if len(ids) < count:
        raise ResourceError(
            f"gpus={count}, but {VARIABLE}={variable!r} shows {len(ids)}: unset it, or ask for fewer"
        )
    return ids[:count]


def visible_to(placement: Placement, ids: Sequence[str]) -> str:
    """Return CUDA_VISIBLE_DEVICES for a trial with this placement; empty if it has no GPU."""
    indexes = dict.fromkeys(index for bundle in placement.gpus for index, _ in bundle)
    return ",".join(ids[index] for index in indexes)


def variables(start: Start, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the (name, value) of each environment variable that shows a trial its accelerators."""
    if start.devices is not None:
        return start.devices
    return ((VARIABLE, visible_to(start.placement, ids)),)


def is_cuda_initialised() -> bool:
    """Return whether this process has started CUDA, which then does not work in its forks."""
    import sys

    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return True
    # opened by cuInit, whichever library calls it, and not by NVML
    return any(target == "/dev/nvidia-uvm" for _, target in open_descriptors())


def _count() -> int:
    """Return the number of GPUs that NVML reports; 0 if NVML or pynvml is missing."""
    if os.path.isdir("/dev") and not any(os.path.exists(f"/dev/{one}") for one in ("nvidiactl", "dxg")):
        return 0  # spares the import
    try:
        import pynvml
    except ImportError:
        return 0
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return 0
    try:
        return int(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return 0
    finally:
        pynvml.nvmlShutdown()
