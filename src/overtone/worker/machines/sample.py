"""The load of a machine now: CPU, memory, disk and GPUs."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from overtone.worker.machines import nvml

MOST_GPUS = 64


class GpuSample(NamedTuple):
    """A GPU: the part of the time in which it computed (0 to 1), and its memory in bytes; NaN if unknown."""

    use: float
    memory_used: float
    memory_total: float


class MachineSample(NamedTuple):
    """A machine at a moment; NaN for what is not known.

    Attributes:
        time: Seconds since 1970.
        cpu: The part of all CPUs (0 to 1) that worked since the sample before.
        n_cpus: Number of CPUs.
        memory_used, memory_total: Bytes.
        disk_used, disk_total: Bytes, of the file system of the experiment's folder.
        gpus: The GPUs, in NVML's order.
    """

    time: float
    cpu: float
    n_cpus: float
    memory_used: float
    memory_total: float
    disk_used: float
    disk_total: float
    gpus: tuple[GpuSample, ...] = ()

    def as_numbers(self) -> list[float]:
        """Return the sample as a list of numbers; `sample_of` is the inverse."""
        return [*self[:-1], *(number for gpu in self.gpus for number in gpu)]


N_NUMBERS = len(MachineSample._fields) - 1


def sample_of(numbers: list[float]) -> MachineSample:
    """Return the sample in a list of numbers.

    Raises:
        ValueError: It is not the list of a sample.
    """
    n_gpus, rest = divmod(len(numbers) - N_NUMBERS, 3)
    if rest or not 0 <= n_gpus <= MOST_GPUS:
        raise ValueError(f"{len(numbers)} numbers are not a sample")
    own, of_gpus = numbers[:N_NUMBERS], numbers[N_NUMBERS:]
    gpus = tuple(GpuSample(*of_gpus[i : i + 3]) for i in range(0, len(of_gpus), 3))
    return MachineSample._make([*own, gpus])


class MachineSampler:
    """Takes samples of this machine; the libraries for it are loaded with the first one.

    Args:
        folder: A folder on the disk that is looked at.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._times: tuple[float, float] | None = None
        self._gpus: list[Any] | None = None

    def sample(self) -> MachineSample:
        """Return a sample. In the first one `cpu` is NaN."""
        import psutil

        times = psutil.cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        # Linux counts the time of guests as time of the user as well
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        before, self._times = self._times, (idle, total)
        cpu = nan
        if before is not None and total > before[1]:
            cpu = min(1.0, max(0.0, 1 - (idle - before[0]) / (total - before[1])))
        memory = psutil.virtual_memory()
        disk_used = disk_total = nan
        with suppress(OSError):
            disk = psutil.disk_usage(os.fspath(self._folder))
            disk_used, disk_total = float(disk.used), float(disk.total)
        return MachineSample(
            time.time(), cpu, float(psutil.cpu_count() or 1), float(memory.total - memory.available),
            float(memory.total), disk_used, disk_total, self._of_gpus(),
        )  # fmt: skip

    def _of_gpus(self) -> tuple[GpuSample, ...]:
        if self._gpus is None:
            self._gpus = _handles()
        return tuple([_gpu_sample(handle) for handle in self._gpus])


def _handles() -> list[Any]:
    """Return NVML's handles of the GPUs; none without NVML."""
    pynvml = nvml.opened()
    if pynvml is None:
        return []
    try:
        count = min(MOST_GPUS, int(pynvml.nvmlDeviceGetCount()))
        return [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    except Exception:  # without the right to it
        return []


def _gpu_sample(handle: Any) -> GpuSample:
    import pynvml

    use = used = total = nan
    with suppress(pynvml.NVMLError):  # a GPU that is split has no use of its own
        use = pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
    with suppress(pynvml.NVMLError):
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        used, total = float(memory.used), float(memory.total)
    return GpuSample(use, used, total)
