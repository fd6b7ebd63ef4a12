"""Measures the GPU memory of trials, and what other programs hold of it.

What others hold goes to the ledger with the capacity. So does the memory of a killed process until the
driver of the GPU has freed it: it is measured before the end of its trial is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from overtone.core.ledger import TAKEN
from overtone.core.messages import CapacityChanged, Event, Start
from overtone.core.resources import GPU_MEMORY
from overtone.engines.local.capacity import Capacity
from overtone.engines.local.process import LocalAttempt
from overtone.engines.loop import Loop
from overtone.worker.limits.process_usage import Families
from overtone.worker.machines.gpu_memory import GpuMemory
from overtone.worker.trial_gpu_memory import is_counted

EVERY_S = 0.5
"""Seconds from one measurement to the next."""

STEP = 128 * 2**20
"""Unit in which the memory that other programs hold is reported, in bytes."""

CONTEXT = 512 * 2**20
"""Bytes that CUDA holds in a process beside PyTorch's tensors, where they cannot be measured."""


@dataclass(slots=True)
class _Device:
    """A GPU.

    Attributes:
        size: The bytes that trials may use.
        taken: The bytes that others hold, as told last.
        base: The bytes that others held when no trial with GPU memory used the GPU, or fewer since.
        fewer: Whether the last measurement found less than `taken`: it is told if the next one does, too.
    """

    size: float
    taken: float = 0.0
    base: float = 0.0
    fewer: bool = False


class GpuMemoryWatch:
    """Watches the GPUs of this machine, from the first trial on that reserves memory of one.

    Args:
        capacity: This machine's.
        running: The attempts that run, by trial.
        loop: Runs the timer.
        events: Takes the events.
        node: The name of this machine.
    """

    def __init__(
        self,
        capacity: Capacity,
        running: Mapping[str, LocalAttempt],
        loop: Loop,
        events: list[Event],
        node: str,
    ) -> None:
        amounts = self._amounts = capacity.amounts()
        sizes = [amounts.get(f"{GPU_MEMORY}:{index}", 0.0) for index in range(int(amounts["gpu"]))]
        self._devices = [_Device(size) for size in sizes]
        self._reader = capacity.gpu_reader if sizes else None
        self._running, self._loop, self._events, self._node = running, loop, events, node
        self._families = Families()
        self._peaks: dict[str, float] = {}  # by trial
        self._is_watching = False

    def begin(self) -> str:
        """Tell the capacity; return a line about memory that others hold, if they hold much."""
        self._measure()
        lines = [
            f"GPU {index}: other programs hold {one.taken / 2**30:.1f} of {one.size / 2**30:.1f} GiB"
            for index, one in enumerate(self._devices)
            if one.taken > 0.1 * one.size
        ]
        if any(one.taken for one in self._devices):
            self._watch()
        self._tell()
        return "; ".join(lines)

    def on_start(self, start: Start) -> None:
        """Watch the GPUs if the trial asked for GPU memory."""
        if not self._is_watching and is_counted(start):
            self._watch()

    def on_peak(self, trial_id: str, used: float) -> None:
        """Take what a trial says of its largest use."""
        measured = self._peaks.get(trial_id, 0.0)
        self._peaks[trial_id] = max(measured, used if measured else used + CONTEXT)

    def on_end(self, start: Start) -> float:
        """Measure now, as an attempt with GPU memory has ended; return its largest use on one GPU, or 0.0."""
        if not is_counted(start):
            return 0.0
        if self._measure():
            self._tell()
        peak = self._peaks.pop(start.trial_id, 0.0)
        return peak if start.resources.auto is not None else 0.0

    def _watch(self) -> None:
        self._is_watching = True
        self._loop.at(self._loop.now() + EVERY_S, self._look)

    def _look(self) -> None:
        if self._measure():
            self._tell()
        self._watch()

    def _tell(self) -> None:
        taken = {f"{TAKEN}:{index}": one.taken for index, one in enumerate(self._devices) if one.taken}
        self._events.append(CapacityChanged(self._loop.now(), {self._node: {**self._amounts, **taken}}))

    def _measure(self) -> bool:
        """Measure all GPUs; return whether others hold another amount than told."""
        if self._reader is None:
            return False
        mine = [one for one in self._running.values() if is_counted(one.start)]
        families = {
            one.start.trial_id: {pid for each in one.processes for pid in self._families.of(each.shown_pid)}
            for one in mine
        }
        has_changed = False
        for index, (device, now) in enumerate(zip(self._devices, self._reader.read(), strict=True)):
            if now is None:
                continue
            here = [one.start for one in mine if _share(one.start, index)]
            taken = self._others(device, index, now, here, families)
            has_changed |= self._set(device, taken - max(0.0, now.total - device.size))
        return has_changed

    def _others(
        self, device: _Device, index: int, now: GpuMemory, here: list[Start], families: Mapping[str, set[int]]
    ) -> float:
        """Return the bytes of a GPU that others hold, and note what the trials `here` do.

        Where the processes are not known, others hold what is beyond all that trials reserve, and at least
        what they held before.
        """
        device.base = min(device.base, now.used) if here else now.used
        if now.by_pid is not None:
            used = 0.0
            for start in here:
                own = sum(now.by_pid.get(pid, 0.0) for pid in families[start.trial_id])
                self._peaks[start.trial_id] = max(self._peaks.get(start.trial_id, 0.0), own)
                used += own
            return now.used - used
        alone = next((one for one in here if _share(one, index) >= 1), None)
        if alone is not None:
            own = now.used - device.base
            self._peaks[alone.trial_id] = max(self._peaks.get(alone.trial_id, 0.0), own)
            return device.base
        return max(device.base, now.used - sum(one.resources.gpu_memory for one in here))

    def _set(self, device: _Device, taken: float) -> bool:
        """Set what others hold; return whether that changed. Small changes are left out."""
        if device.taken - 2 * STEP <= taken <= device.taken or (taken < STEP and not device.taken):
            device.fewer = False
            return False
        if taken < device.taken and not device.fewer:
            device.fewer = True
            return False
        device.taken, device.fewer = max(0.0, ceil(taken / STEP) * STEP), False
        return True


def _share(start: Start, gpu: int) -> float:
    """Return the part of a GPU that an attempt has."""
    return sum(part for bundle in start.placement.gpus for index, part in bundle if index == gpu)
