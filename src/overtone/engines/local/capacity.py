"""Resources of this machine for trials: the CPUs, GPUs and memory that this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from overtone.core.messages import Start
from overtone.core.resources import GPU_MEMORY, bundle, format_amount, parse_bytes
from overtone.engines.local.process import Shape
from overtone.errors import ResourceError
from overtone.worker import gpus as gpu_ids
from overtone.worker.limits.control_groups import ROOT, own_groups, words
from overtone.worker.machines.gpu_memory import GpuMemoryReader
from overtone.worker.server.preparation import cpu_threads

_MOST_SHAPES = 1024


class Capacity:
    """Resources that trials may use on this machine: as declared, otherwise as detected.

    Raises:
        ResourceError: An amount is invalid.
    """

    def __init__(
        self,
        cpus: float | None,
        gpus: int | None,
        memory: float | str | None,
        resources: Mapping[str, float] | None,
        gpu_memory: float | str | Sequence[float | str] | None = None,
    ) -> None:
        if cpus is not None and not 0 < cpus < math.inf:
            raise ResourceError(f"cpus={cpus!r}: trials need a positive number of CPUs")
        if gpus is not None and (gpus < 0 or gpus != int(gpus)):
            raise ResourceError(f"gpus={gpus!r}: say how many whole GPUs there are")
        self._cpus = float(count_cpus() if cpus is None else cpus)
        self._declared_gpus = gpus
        self._memory = float(memory_bytes() if memory is None else parse_bytes(memory))
        self._custom = dict(bundle(resources or {}))
        self._gpu_memory = gpu_memory
        self._shapes: dict[tuple[object, ...], Shape] = {}

    @cached_property
    def gpu_ids(self) -> tuple[str, ...]:
        """The id of each GPU in CUDA_VISIBLE_DEVICES; GPUs are detected at the first access."""
        if self._declared_gpus is None:
            return gpu_ids.detect()
        return gpu_ids.declared_ids(int(self._declared_gpus))

    @cached_property
    def gpu_reader(self) -> GpuMemoryReader:
        """Reads the memory of the GPUs."""
        return GpuMemoryReader(self.gpu_ids)

    def _sizes_of_gpus(self) -> dict[str, float]:
        """Return the memory of each GPU and of all, by the ledger's names; nothing if one is unknown.

        Raises:
            ResourceError: More or fewer amounts are declared than there are GPUs.
        """
        declared, n_gpus = self._gpu_memory, len(self.gpu_ids)
        if declared is None:
            sizes = [one.total if one is not None else 0.0 for one in self.gpu_reader.read()]
        elif isinstance(declared, (int, float, str)):
            sizes = [parse_bytes(declared)] * n_gpus
        else:
            sizes = [parse_bytes(one) for one in declared]
        if len(sizes) != n_gpus:
            raise ResourceError(f"gpu_memory={declared!r}: {len(sizes)} amounts for {_count(n_gpus, 'GPU')}")
        if not sizes or not all(sizes):
            return {}
        return {GPU_MEMORY: sum(sizes), **{f"{GPU_MEMORY}:{index}": one for index, one in enumerate(sizes)}}

    def shape(self, start: Start) -> Shape:
        """Return the setup of a trial's process: equal for equal resources, placement and devices."""
        key = start.resources, start.placement, start.devices
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            shape = (gpu_ids.variables(start, self.gpu_ids), cpu_threads(start))
            self._shapes[key] = shape
        return shape

    def amounts(self) -> dict[str, float]:
        """Return the amount of each resource, by the names that bundles use."""
        found = {"cpu": self._cpus, "gpu": float(len(self.gpu_ids)), "memory": self._memory}
        return found | self._sizes_of_gpus() | self._custom

    def __str__(self) -> str:
        shown = [
            _count(self._cpus, "CPU"),
            _count(len(self.gpu_ids), "GPU"),
            f"{self._memory / 2**30:.1f} GiB memory",
            *(f"{format_amount(name, amount)} {name}" for name, amount in sorted(self._custom.items())),
        ]
        return ", ".join(shown)


def _count(amount: float, name: str) -> str:
    return f"{amount:g} {name}" if amount == 1 else f"{amount:g} {name}s"


def count_cpus(cgroups: Path = ROOT) -> int:
    """Return the number of CPUs that affinity and the control group's quota allow this process."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:
        count = os.cpu_count() or 1
    for group in own_groups("cpu", cgroups):
        quota, period = words(group / "cpu.max", 2) or (
            *(words(group / "cpu.cfs_quota_us", 1) or ("max",)),
            *(words(group / "cpu.cfs_period_us", 1) or ("0",)),
        )
        if quota not in ("max", "-1") and int(period) > 0:
            count = min(count, max(1, int(quota) // int(period)))
    return count


def memory_bytes(cgroups: Path = ROOT) -> int:
    """Return the physical memory, or the limit of this process's control group if it is lower."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for group in own_groups("memory", cgroups):
        for name in ("memory.max", "memory.limit_in_bytes"):
            for limit in words(group / name, 1):
                if limit != "max":
                    total = min(total, int(limit))
    return total
