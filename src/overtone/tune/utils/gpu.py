"""Waiting, in a trial, until the trial's GPU is free of earlier processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from overtone.errors import MissingPackageError, ResourceError


def wait_for_gpu(
    gpu_id: int | str | None = None,
    target_util: float = 0.01,
    retry: int = 20,
    delay_s: float = 5,
    gpu_memory_limit: float | None = None,
) -> bool:
    """Wait until at most `target_util` of a GPU's memory is in use; return True.

    Args:
        gpu_id: The GPU's index or UUID; by default the trial's first GPU.
        target_util: A fraction of the GPU's memory, from 0 to 1.
        retry: Maximum number of checks.
        delay_s: Seconds between two checks.
        gpu_memory_limit: The old name of `target_util`.

    Raises:
        ResourceError: There is no such GPU, or it is still in use after `retry` checks.
        MissingPackageError: Neither nvidia-ml-py nor GPUtil is installed.
    """
    wanted = gpu_id if gpu_id is not None else _given()
    most = target_util if gpu_memory_limit is None else gpu_memory_limit
    with _memory_in_use(str(wanted)) as memory_in_use:
        for look in range(retry):
            if look:
                time.sleep(delay_s)
            used = memory_in_use()
            if used <= most:
                return True
    raise ResourceError(
        f"GPU {wanted} still has {used:.0%} of its memory in use after {retry} looks, "
        f"and at most {most:.0%} were allowed: see nvidia-smi for what runs there"
    )


@contextmanager
def _memory_in_use(gpu: str) -> Iterator[Callable[[], float]]:
    """Yield a function that returns the fraction of a GPU's memory that is in use."""
    try:
        import pynvml  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        try:
            import GPUtil  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            raise MissingPackageError("nvidia-ml-py", "gpu", "tune.utils.wait_for_gpu") from error
        yield lambda: _by_gputil(GPUtil, gpu)
        return
    pynvml.nvmlInit()
    try:
        is_index = gpu.isdigit()
        find = pynvml.nvmlDeviceGetHandleByIndex if is_index else pynvml.nvmlDeviceGetHandleByUUID
        try:
            handle = find(int(gpu) if is_index else gpu)
        except pynvml.NVMLError as error:
            raise ResourceError(f"gpu_id={gpu!r}: there is no such GPU ({error})") from error

        def used() -> float:
            memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
            return float(memory.used / memory.total)

        yield used
    finally:
        pynvml.nvmlShutdown()


def _by_gputil(library: Any, gpu: str) -> float:
    gpus = library.getGPUs()
    for one in gpus:
        if gpu in (str(one.id), one.uuid):
            return float(one.memoryUtil)
    known = ", ".join(f"{one.id} ({one.uuid})" for one in gpus) or "none"
    raise ResourceError(f"gpu_id={gpu!r}: there is no such GPU (found: {known})")


def _given() -> str:
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0].strip()
    if not first:
        raise ResourceError('this trial was given no GPU: ask for one with resources_per_trial={"gpu": 1}')
    return first
