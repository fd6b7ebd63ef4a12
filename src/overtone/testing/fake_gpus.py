"""GPUs that exist in files alone: processes allocate their memory, and NVML's functions tell of it.

>>> gpus = FakeGpus(folder, [8e9])
>>> with gpus.installed():  # in the driver
...     tune.run(train, engine=Local(gpus=1), resources_per_trial={"gpu_memory": "2GB"})

In the trial, `gpus.allocate(0, 2e9)`. The memory of a process is free once the process is gone.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from overtone.worker.machines import gpu_memory, nvml


class OutOfMemory(RuntimeError):
    """The error of an allocation that does not fit, worded as PyTorch words it."""


class FakeGpus:
    """GPUs of these sizes in bytes, in files below `folder`; the object can be pickled.

    Args:
        late: How many looks of NVML see the memory of a process that is gone.
    """

    def __init__(self, folder: str | os.PathLike[str], sizes: Sequence[float], late: int = 0) -> None:
        self._folder = Path(folder)
        self.sizes = list(sizes)
        self._late = late
        for index in range(len(self.sizes)):
            (self._folder / str(index)).mkdir(parents=True, exist_ok=True)

    def allocate(self, gpu: int, amount: float) -> None:
        """Allocate memory for this process, on top of what it has.

        Raises:
            OutOfMemory: It does not fit.
        """
        with self._locked():
            used = self._used(gpu)
            if sum(used.values()) + amount > self.sizes[gpu]:
                raise OutOfMemory(f"CUDA out of memory. Tried to allocate {amount / 2**30:.2f} GiB")
            self.hold(gpu, os.getpid(), used.get(os.getpid(), 0.0) + amount)

    def hold(self, gpu: int, pid: int, amount: float) -> None:
        """Let a process hold so many bytes; 0 to free them. The pid 1 is another user's, say."""
        (self._folder / str(gpu) / str(pid)).write_text(f"{amount!r} {self._late}")

    def used(self, gpu: int) -> dict[int, float]:
        """Return the bytes that processes hold, by pid: one look."""
        with self._locked():
            found = self._used(gpu, is_look=True)
            (self._folder / "seen").write_text(" ".join(map(str, found)))
            return found

    def wait_until_seen(self) -> None:
        """Return when a look of NVML has seen the memory of this process."""
        seen = self._folder / "seen"
        while not seen.exists() or str(os.getpid()) not in seen.read_text().split():
            time.sleep(0.01)

    def _used(self, gpu: int, is_look: bool = False) -> dict[int, float]:
        found = {}
        for path in (self._folder / str(gpu)).iterdir():
            amount, late = path.read_text().split()
            if not os.path.exists(f"/proc/{path.name}"):
                if late == "0":
                    path.unlink()
                    continue
                if is_look:
                    path.write_text(f"{amount} {int(late) - 1}")
            found[int(path.name)] = float(amount)
        return found

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with open(self._folder / "lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def installed(self, knows_pids: bool = True) -> Iterator[None]:
        """Let this process see these GPUs by NVML; `knows_pids` is False as in a container."""
        before = nvml.opened, gpu_memory.knows_pids
        nvml.opened = lambda: FakeNvml(self)
        gpu_memory.knows_pids = lambda: knows_pids
        try:
            yield
        finally:
            nvml.opened, gpu_memory.knows_pids = before


class FakeNvml:
    """Stands for the module `pynvml`, with the functions that Overtone calls."""

    class NVMLError(Exception):
        """NVML's error."""

    def __init__(self, gpus: FakeGpus) -> None:
        self._gpus = gpus

    def nvmlDeviceGetCount(self) -> int:
        """Return the number of GPUs."""
        return len(self._gpus.sizes)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        """Return the handle of a GPU."""
        if index >= len(self._gpus.sizes):
            raise self.NVMLError("Invalid Argument")
        return index

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:
        """Return the total and the used memory."""
        used = sum(self._gpus.used(handle).values())
        return SimpleNamespace(total=self._gpus.sizes[handle], used=used)

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[Any]:
        """Return the processes that hold memory."""
        held = self._gpus.used(handle)
        return [SimpleNamespace(pid=pid, usedGpuMemory=amount) for pid, amount in held.items()]
