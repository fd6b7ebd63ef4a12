"""The memory of GPUs now, and the processes that hold it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from overtone.worker.machines import nvml

_FIRST_PID_NAMESPACE = "pid:[4026531836]"
"""The namespace of all processes of a machine, as Linux names it: the pids in it are those of NVML."""


class GpuMemory(NamedTuple):
    """The memory of a GPU at a moment, in bytes.

    Attributes:
        total: What programs can use.
        used: What they hold.
        by_pid: What each process holds; None if that is unknown. So it is in a container with pids of its
            own, to which NVML tells those of the machine, or none.
    """

    total: float
    used: float
    by_pid: Mapping[int, float] | None


class GpuMemoryReader:
    """Reads the memory of GPUs by NVML.

    Args:
        ids: The GPUs as in CUDA_VISIBLE_DEVICES: indices or UUIDs.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self._nvml: Any = nvml.opened() if ids else None
        self._handles = [self._handle(one) for one in ids]
        self._knows_pids = knows_pids()

    def read(self) -> list[GpuMemory | None]:
        """Return the memory of each GPU; None where NVML does not tell it."""
        return [None if handle is None else self._of(handle) for handle in self._handles]

    def _handle(self, gpu: str) -> Any:
        if self._nvml is None:
            return None
        with suppress(self._nvml.NVMLError):
            if gpu.isdecimal():
                return self._nvml.nvmlDeviceGetHandleByIndex(int(gpu))
            return self._nvml.nvmlDeviceGetHandleByUUID(gpu)
        return None

    def _of(self, handle: Any) -> GpuMemory | None:
        try:
            memory = self._nvml.nvmlDeviceGetMemoryInfo(handle)
            by_pid = self._by_pid(handle) if self._knows_pids else None
        except self._nvml.NVMLError:  # such as for a GPU that is lost
            return None
        return GpuMemory(float(memory.total), float(memory.used), by_pid)

    def _by_pid(self, handle: Any) -> dict[int, float] | None:
        found: dict[int, float] = {}
        for process in self._nvml.nvmlDeviceGetComputeRunningProcesses(handle):
            if process.usedGpuMemory is None:  # Windows does not tell it, nor some GPUs that are split
                return None
            found[process.pid] = found.get(process.pid, 0.0) + float(process.usedGpuMemory)
        return found


def knows_pids() -> bool:
    """Return whether pids of this process are those of the whole machine, as NVML has them."""
    try:
        return os.readlink("/proc/self/ns/pid") == _FIRST_PID_NAMESPACE
    except OSError:
        return not os.path.isdir("/proc/self")  # no Linux: there are no containers with pids of their own
